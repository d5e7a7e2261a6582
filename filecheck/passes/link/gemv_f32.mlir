// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A product by plain values.

// CHECK-LABEL: func.func @gemv_f32(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %y = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.gemv_f32(x = %x : memref<2x32xf32>, w = %w : memref<32x64xf32>, out = %y : memref<2x64xf32>) covers [0]
// CHECK-NEXT: func.return %y : memref<2x64xf32>
func.func @gemv_f32(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<32x64xf32>
  %y = tgraph.matmul %x, %w : (tensor<2x32xf32>, tensor<32x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}
