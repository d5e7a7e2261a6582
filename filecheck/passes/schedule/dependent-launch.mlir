// RUN: lanelink-opt %s -p schedule-dependent-launch --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-dependent-launch,schedule-dependent-launch --split-input-file | filecheck %s

// The first launch has nothing before it, and a mark it came with goes. A narrow one starts early, and so does a product
// whatever it writes: its weights are on their way before the launch before it ends. A view runs nothing.
// CHECK-LABEL: func.func @early
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.view %y offset 0 covers [] :
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
// CHECK: launch.gemv({{.*}}) {dependent} covers [2]
// CHECK: launch.fold() attributes {dependent} {
// CHECK:   launch.gemv({{.*}}) covers [3]
// CHECK:   launch.norm({{.*}}) {cols = 320000 : i64, eps = 1.000000e-06 : f32} covers [4]
func.func @early(%token: memref<1xi32> {tgraph.token}, %x: memref<1x64xf32>, %y: memref<1x64xf32>,
                 %z: memref<1x320000xf32>, %n: memref<1x320000xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 320000x64, transposed>
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {dependent, act = #launch<act silu>} covers [0]
  %v = launch.view %y offset 0 covers [] : memref<1x64xf32> -> memref<1x64xf32>
  launch.unary(x = %v : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 320000x64, transposed>, out = %z : memref<1x320000xf32>) covers [2]
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 320000x64, transposed>, out = %z : memref<1x320000xf32>) covers [3]
    launch.norm(x = %z : memref<1x320000xf32>, out = %n : memref<1x320000xf32>) {cols = 320000 : i64, eps = 1.000000e-06 : f32} covers [4]
  }
  func.return
}

// -----

// Wide launches that load no constants first: 264 blocks of 1024 values start early on 132 multiprocessors, 265 do not.
// A gather's rows are constants, but which of them the launch before may decide.
// CHECK-LABEL: func.func @wide
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [2]
// CHECK: launch.gather({{.*}}) covers [3]
func.func @wide(%token: memref<1xi32> {tgraph.token}, %x: memref<264x1024xf32>, %y: memref<264x1024xf32>,
                %a: memref<265x1024xf32>, %b: memref<265x1024xf32>, %i: memref<265xi32>)
    attributes {launch.lifted = 4 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x1024>
  launch.unary(x = %x : memref<264x1024xf32>, out = %y : memref<264x1024xf32>) {act = #launch<act silu>} covers [0]
  launch.unary(x = %y : memref<264x1024xf32>, out = %x : memref<264x1024xf32>) {act = #launch<act silu>} covers [1]
  launch.unary(x = %a : memref<265x1024xf32>, out = %b : memref<265x1024xf32>) {act = #launch<act silu>, dependent} covers [2]
  launch.gather(table = %e : !tgraph.rows<bf16, 256x1024>, index = %i : memref<265xi32>, out = %a : memref<265x1024xf32>) covers [3]
  func.return
}

// -----

// On a chip of twice the multiprocessors they do.
// CHECK-LABEL: func.func @larger_chip
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
builtin.module attributes {launch.target = #launch.target<"other", capability 90, sms 264, shared 227, int8>} {
  func.func @larger_chip(%token: memref<1xi32> {tgraph.token}, %a: memref<265x1024xf32>, %b: memref<265x1024xf32>)
      attributes {launch.lifted = 2 : i64} {
    launch.unary(x = %a : memref<265x1024xf32>, out = %b : memref<265x1024xf32>) {act = #launch<act silu>} covers [0]
    launch.unary(x = %b : memref<265x1024xf32>, out = %a : memref<265x1024xf32>) {act = #launch<act silu>} covers [1]
    func.return
  }
}

// -----

// A delta rule whose state alone is more than 264 blocks of 1024 values: it is sent for before the wait.
// CHECK-LABEL: func.func @delta
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.delta({{.*}}) {{{.*}}dependent{{.*}}} covers [1]
func.func @delta(%token: memref<1xi32> {tgraph.token}, %x: memref<1x4096xf32>, %y: memref<1x4096xf32>,
                 %b: memref<1x32xf32>, %s: memref<4096x128xf32>, %n: memref<128xf32>)
    attributes {launch.lifted = 2 : i64} {
  launch.unary(x = %x : memref<1x4096xf32>, out = %y : memref<1x4096xf32>) {act = #launch<act silu>} covers [0]
  launch.delta(q = %y : memref<1x4096xf32>, k = %y : memref<1x4096xf32>, v = %y : memref<1x4096xf32>, z = %y : memref<1x4096xf32>, beta = %b : memref<1x32xf32>, decay = %b : memref<1x32xf32>, state = %s : memref<4096x128xf32>, norm_weight = %n : memref<128xf32>, out = %x : memref<1x4096xf32>) {value_heads = 32 : i64, key_heads = 32 : i64, head_dim = 128 : i64, eps = 1.000000e-06 : f32} covers [1]
  func.return
}
