// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A product with its bias.

// CHECK-LABEL: func.func @gemm_bias_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, bias = %row : memref<1x32xf32>, out = %b : memref<2x32xf32>) covers [0, 1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @gemm_bias_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %row = tgraph.constant #tgraph.checkpoint<"row"> : tensor<1x32xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemm_bias(%x_1 = %x : tensor<2x32xf32>, %row_1 = %row : tensor<1x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %b = tgraph.elementwise add %a, %row_1 : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
    tgraph.yield %b : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @gemm_bias_1(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gemv_f32(x = %x : memref<2x32xf32>, w = %m : memref<32x32xf32>, bias = %row : memref<1x32xf32>, out = %b : memref<2x32xf32>) covers [0, 1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @gemm_bias_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %row = tgraph.constant #tgraph.checkpoint<"row"> : tensor<1x32xf32>
  %m = tgraph.constant #tgraph.checkpoint<"m"> : tensor<32x32xf32>
  %r = tgraph.fused gemm_bias(%x_1 = %x : tensor<2x32xf32>, %row_1 = %row : tensor<1x32xf32>, %m_1 = %m : tensor<32x32xf32>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %m_1 : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
    %b = tgraph.elementwise add %a, %row_1 : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
    tgraph.yield %b : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
