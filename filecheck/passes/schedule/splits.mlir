// RUN: lanelink-opt %s -p schedule-splits --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-splits,schedule-splits --split-input-file | filecheck %s

// One row of 2048 inputs: 32 shares of 64 for a block of outputs, 16 for each of sixteen. Few inputs stay whole, and so
// do many rows; gate projections take four rows a block.
// CHECK-LABEL: func.func @splits
// CHECK: launch.gemv_f32({{.*}}out = %y : {{.*}}) {splits = 32 : i64} covers [0]
// CHECK: launch.gemv_f32({{.*}}out = %z : {{.*}}) {splits = 16 : i64} covers [1]
// CHECK: launch.gemv_f32({{.*}}out = %v : {{.*}}) {splits = 1 : i64} covers [2]
// CHECK: launch.gate_proj({{.*}}) {splits = 32 : i64} covers [3, 4, 5, 6]
func.func @splits(%token: memref<1xi32> {tgraph.token}, %x: memref<1x2048xf32>, %s: memref<1x64xf32>, %y: memref<1x32xf32>, %z: memref<1x512xf32>, %v: memref<1x32xf32>,
    %b: memref<1x32xf32>, %d: memref<1x32xf32>) attributes {launch.lifted = 7 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<2048x32xf32>
  %u = launch.constant #tgraph.checkpoint<"u"> : memref<2048x512xf32>
  %t = launch.constant #tgraph.checkpoint<"t"> : memref<64x32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<32xf32>
  launch.gemv_f32(x = %x : memref<1x2048xf32>, w = %w : memref<2048x32xf32>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemv_f32(x = %x : memref<1x2048xf32>, w = %u : memref<2048x512xf32>, out = %z : memref<1x512xf32>) covers [1]
  launch.gemv_f32(x = %s : memref<1x64xf32>, w = %t : memref<64x32xf32>, out = %v : memref<1x32xf32>) covers [2]
  launch.gate_proj(x = %x : memref<1x2048xf32>, wb = %w : memref<2048x32xf32>, wa = %w : memref<2048x32xf32>, dt_bias = %c : memref<32xf32>, a_log = %c : memref<32xf32>,
    beta = %b : memref<1x32xf32>, decay = %d : memref<1x32xf32>) covers [3, 4, 5, 6]
  func.return
}

// -----

// 300 rows fill the chip by themselves: a plain product is left whole, and 75 blocks of gates are split by three.
// CHECK-LABEL: func.func @many_rows
// CHECK: launch.gemv_f32({{.*}}) {splits = 1 : i64} covers [0]
// CHECK: launch.gate_proj({{.*}}) {splits = 3 : i64} covers [1, 2, 3, 4]
func.func @many_rows(%token: memref<300xi32> {tgraph.token}, %x: memref<300x2048xf32>, %y: memref<300x32xf32>, %b: memref<300x32xf32>, %d: memref<300x32xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<2048x32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<32xf32>
  launch.gemv_f32(x = %x : memref<300x2048xf32>, w = %w : memref<2048x32xf32>, out = %y : memref<300x32xf32>) covers [0]
  launch.gate_proj(x = %x : memref<300x2048xf32>, wb = %w : memref<2048x32xf32>, wa = %w : memref<2048x32xf32>, dt_bias = %c : memref<32xf32>, a_log = %c : memref<32xf32>,
    beta = %b : memref<300x32xf32>, decay = %d : memref<300x32xf32>) covers [1, 2, 3, 4]
  func.return
}
