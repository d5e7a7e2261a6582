// RUN: lanelink-opt %s -p schedule-tails --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-tails,schedule-tails --split-input-file | filecheck %s

// Two blocks on each of 132 multiprocessors: 32 tiles are split by eight, in a fold too, a pair's 64 by four, and the last
// 36 of 300 by seven; three parts of 32, 8 and 8 tiles by five.
// CHECK-LABEL: func.func @splits
// CHECK: launch.gemv({{.*}}) {tail_from = 0 : i64, tail_split = 8 : i64} covers [0]
// CHECK: launch.gemv_glu({{.*}}) {act = #launch<act silu>, tail_from = 0 : i64, tail_split = 4 : i64} covers [1]
// CHECK: launch.fold() {
// CHECK:   launch.gemv({{.*}}) {tail_from = 0 : i64, tail_split = 8 : i64} covers [2]
// CHECK:   launch.norm({{.*}}) {cols = 4096 : i64, eps = 1.000000e-06 : f32} covers [3]
// CHECK: launch.gemv({{.*}}) {tail_from = 264 : i64, tail_split = 7 : i64} covers [4]
// CHECK: launch.gemm_parts({{.*}}) attributes {tail_from = 0 : i64, tail_split = 5 : i64} {
func.func @splits(%token: memref<9xi32> {tgraph.token}, %x: !tgraph.q8<9x4096>, %y: memref<9x4096xf32>, %n: memref<9x4096xf32>,
    %z: memref<9x38400xf32>, %k: memref<9x1024xf32>, %v: memref<9x1024xf32>) attributes {launch.lifted = 8 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 4096x4096, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<q8_0, 38400x4096, transposed>
  %s = launch.constant #tgraph.checkpoint<"s"> : !tgraph.rows<q8_0, 1024x4096, transposed>
  launch.gemv(x = %x : !tgraph.q8<9x4096>, w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) covers [0]
  launch.gemv_glu(x = %x : !tgraph.q8<9x4096>, wg = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, wu = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) {act = #launch<act silu>} covers [1]
  launch.fold() {
    launch.gemv(x = %x : !tgraph.q8<9x4096>, w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) covers [2]
    launch.norm(x = %y : memref<9x4096xf32>, out = %n : memref<9x4096xf32>) {cols = 4096 : i64, eps = 1.000000e-06 : f32} covers [3]
  }
  launch.gemv(x = %x : !tgraph.q8<9x4096>, w = %u : !tgraph.rows<q8_0, 38400x4096, transposed>, out = %z : memref<9x38400xf32>) covers [4]
  launch.gemm_parts(x = %x : !tgraph.q8<9x4096>) {
    launch.gemm_part(w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) covers [5]
    launch.gemm_part(w = %s : !tgraph.rows<q8_0, 1024x4096, transposed>, out = %k : memref<9x1024xf32>) covers [6]
    launch.gemm_part(w = %s : !tgraph.rows<q8_0, 1024x4096, transposed>, out = %v : memref<9x1024xf32>) covers [7]
  }
  func.return
}

// -----

// Eight rows stream their matrix; a last wave of 133 tiles of 264 leaves too few idle; seven chunks of inputs are too few for
// two shares; what a step came with goes.
// CHECK-LABEL: func.func @stays
// CHECK: launch.gemv({{.*}}) covers [0]
// CHECK: launch.gemv({{.*}}) covers [1]
// CHECK: launch.gemv({{.*}}) covers [2]
func.func @stays(%token: memref<9xi32> {tgraph.token}, %x: !tgraph.q8<8x4096>, %y: memref<8x4096xf32>, %a: !tgraph.q8<9x4096>,
    %b: memref<9x17024xf32>, %c: !tgraph.q8<9x896>, %d: memref<9x4096xf32>) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 4096x4096, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<q8_0, 17024x4096, transposed>
  %s = launch.constant #tgraph.checkpoint<"s"> : !tgraph.rows<q8_0, 4096x896, transposed>
  launch.gemv(x = %x : !tgraph.q8<8x4096>, w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<8x4096xf32>) {tail_from = 0 : i64, tail_split = 4 : i64} covers [0]
  launch.gemv(x = %a : !tgraph.q8<9x4096>, w = %u : !tgraph.rows<q8_0, 17024x4096, transposed>, out = %b : memref<9x17024xf32>) covers [1]
  launch.gemv(x = %c : !tgraph.q8<9x896>, w = %s : !tgraph.rows<q8_0, 4096x896, transposed>, out = %d : memref<9x4096xf32>) covers [2]
  func.return
}

// -----

// A batch's products stay whole, and so do those of f32 rows.
// CHECK-LABEL: func.func @of_a_batch
// CHECK: launch.gemv({{.*}}) covers [0]
builtin.module attributes {launch.target = #launch.target<"h200", capability 90, sms 132, shared 227, int8, batch>} {
  func.func @of_a_batch(%token: memref<9xi32> {tgraph.token}, %x: !tgraph.q8<9x4096>, %y: memref<9x4096xf32>) attributes {launch.lifted = 1 : i64} {
    %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 4096x4096, transposed>
    launch.gemv(x = %x : !tgraph.q8<9x4096>, w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) covers [0]
    func.return
  }
}

// -----

// CHECK-LABEL: func.func @of_f32
// CHECK: launch.gemv({{.*}}) covers [0]
func.func @of_f32(%token: memref<9xi32> {tgraph.token}, %x: memref<9x4096xf32>, %y: memref<9x4096xf32>) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 4096x4096, transposed>
  launch.gemv(x = %x : memref<9x4096xf32>, w = %w : !tgraph.rows<q8_0, 4096x4096, transposed>, out = %y : memref<9x4096xf32>) covers [0]
  func.return
}
