// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A norm, of rows or of heads, with a residual of its own.

// CHECK-LABEL: func.func @norm(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.norm(x = %x : memref<2x32xf32>, out = %a : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.norm(x = %a : memref<2x32xf32>, add = %y : memref<2x32xf32>, w = %w : memref<16xf32>, out = %b : memref<2x32xf32>) {cols = 16 : i64, eps = 5.000000e-01 : f32} covers [1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @norm(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<16xf32>
  %a = tgraph.fused_row rms %x cols 32 eps 1.0 : tensor<2x32xf32>
  %b = tgraph.fused_row rms %a weight %w : tensor<16xf32> residual %y cols 16 eps 0.5 : tensor<2x32xf32>
  func.return %b : tensor<2x32xf32>
}
