// RUN: lanelink-opt %s -p schedule-products --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-products,schedule-products --split-input-file | filecheck %s

// Long rows by twos, in a fold too, and one of each of a pair; short rows by fours where there are outputs enough. What a warp takes is for products by checkpoint rows: a plain matrix and a norm say nothing.
// CHECK-LABEL: func.func @each
// CHECK: launch.gemv({{.*}}) {per_warp = 2 : i64} covers [0]
// CHECK: launch.gemv({{.*}}) {per_warp = 4 : i64} covers [1]
// CHECK: launch.gemm_parts({{.*}}) attributes {per_warp = 2 : i64} {
// CHECK: launch.gemv_glu({{.*}}) {act = #launch<act silu>, per_warp = 1 : i64} covers [4]
// CHECK: launch.fold() {
// CHECK:   launch.gemv({{.*}}) {per_warp = 2 : i64} covers [5]
// CHECK:   launch.norm({{.*}}) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [6]
// CHECK: launch.gemv_f32({{.*}}) covers [7]
func.func @each(%token: memref<1xi32> {tgraph.token}, %x: memref<1x4096xf32>, %y: memref<1x4096xf32>,
                %h: memref<1x256xf32>, %l: memref<1x32768xf32>, %a: memref<1x64xf32>, %b: memref<1x64xf32>,
                %m: memref<4096x64xf32>) attributes {launch.lifted = 8 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 4096x4096, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32768x256, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : !tgraph.rows<bf16, 64x4096, transposed>
  launch.gemv(x = %x : memref<1x4096xf32>, w = %w : !tgraph.rows<bf16, 4096x4096, transposed>, out = %y : memref<1x4096xf32>) covers [0]
  launch.gemv(x = %h : memref<1x256xf32>, w = %v : !tgraph.rows<bf16, 32768x256, transposed>, out = %l : memref<1x32768xf32>) {per_warp = 2 : i64} covers [1]
  launch.gemm_parts(x = %x : memref<1x4096xf32>) {
    launch.gemm_part(w = %n : !tgraph.rows<bf16, 64x4096, transposed>, out = %a : memref<1x64xf32>) covers [2]
    launch.gemm_part(w = %n : !tgraph.rows<bf16, 64x4096, transposed>, out = %b : memref<1x64xf32>) covers [3]
  }
  launch.gemv_glu(x = %x : memref<1x4096xf32>, wg = %w : !tgraph.rows<bf16, 4096x4096, transposed>, wu = %w : !tgraph.rows<bf16, 4096x4096, transposed>, out = %y : memref<1x4096xf32>) {act = #launch<act silu>} covers [4]
  launch.fold() {
    launch.gemv(x = %x : memref<1x4096xf32>, w = %n : !tgraph.rows<bf16, 64x4096, transposed>, out = %a : memref<1x64xf32>) covers [5]
    launch.norm(x = %a : memref<1x64xf32>, out = %b : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [6]
  }
  launch.gemv_f32(x = %x : memref<1x4096xf32>, w = %m : memref<4096x64xf32>, out = %a : memref<1x64xf32>) covers [7]
  func.return
}

// -----

// On few multiprocessors even narrow products go by twos; several rows of x always do.
// CHECK-LABEL: func.func @small_chip
// CHECK: launch.gemv({{.*}}) {per_warp = 2 : i64} covers [0]
builtin.module attributes {launch.target = #launch.target<"small", capability 90, sms 4, shared 100, int8>} {
  func.func @small_chip(%token: memref<1xi32> {tgraph.token}, %x: memref<1x4096xf32>, %y: memref<1x64xf32>) attributes {launch.lifted = 1 : i64} {
    %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x4096, transposed>
    launch.gemv(x = %x : memref<1x4096xf32>, w = %w : !tgraph.rows<bf16, 64x4096, transposed>, out = %y : memref<1x64xf32>) covers [0]
    func.return
  }
}
