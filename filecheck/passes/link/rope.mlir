// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A rotation, at a position or by tables already cut.

// CHECK-LABEL: func.func @rope(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.rope(x = %x : memref<2x32xf32>, cos = %c : memref<8x2xf32>, sin = %c : memref<8x2xf32>, position = %p : memref<1xi32>, out = %a : memref<2x32xf32>) {heads = 2 : i64, head_dim = 16 : i64, half = 2 : i64} covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.rope(x = %a : memref<2x32xf32>, cos = %d : memref<2x2xf32>, sin = %d : memref<2x2xf32>, out = %b : memref<2x32xf32>) {heads = 4 : i64, head_dim = 8 : i64, half = 2 : i64} covers [1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @rope(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<2x32xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : tensor<8x2xf32>
  %d = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : tensor<2x2xf32>
  %a = tgraph.rope %x, %c, %c at %p heads 2 head_dim 16 half 2 : (tensor<2x32xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<1xi32>) -> tensor<2x32xf32>
  %b = tgraph.rope %a, %d, %d heads 4 head_dim 8 half 2 : (tensor<2x32xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x32xf32>
  func.return %b : tensor<2x32xf32>
}
