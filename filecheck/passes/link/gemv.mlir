// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A product by checkpoint rows, of f32 or quantized activations.

// CHECK-LABEL: func.func @gemv(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<q8_0, 64x32, transposed>, out = %y : memref<2x64xf32>) covers [0]
// CHECK-NEXT: %z = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.gemv(x = %q : !tgraph.q8<2x32>, w = %w : !tgraph.rows<q8_0, 64x32, transposed>, out = %z : memref<2x64xf32>) covers [1]
// CHECK-NEXT: func.return %y, %z : memref<2x64xf32>, memref<2x64xf32>
func.func @gemv(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %q: !tgraph.q8<2x32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %y = tgraph.matmul %x, %w : (tensor<2x32xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  %z = tgraph.matmul %q, %w : (!tgraph.q8<2x32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  func.return %y, %z : tensor<2x64xf32>, tensor<2x64xf32>
}
