// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A product that writes its result quantized.

// CHECK-LABEL: func.func @gemv_quant_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, quant = %q : !tgraph.q8<2x32>) covers [0, 1]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @gemv_quant_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemv_quant(%x_1 = %x : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (!tgraph.q8<2x32>) {
    %s = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r : !tgraph.q8<2x32>
}

// -----

// CHECK-LABEL: func.func @gemv_quant_1(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, bias = %row : memref<1x32xf32>, quant = %q : !tgraph.q8<2x32>) covers [0, 1, 2]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @gemv_quant_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
  %row = tgraph.constant #tgraph.checkpoint<"row"> : tensor<1x32xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemv_quant(%x_1 = %x : tensor<2x32xf32>, %row_1 = %row : tensor<1x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (!tgraph.q8<2x32>) {
    %s = tgraph.fused gemm_bias(%x_2 = %x_1 : tensor<2x32xf32>, %row_2 = %row_1 : tensor<1x32xf32>, %w_2 = %w_1 : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
      %a = tgraph.matmul %x_2, %w_2 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
      %b = tgraph.elementwise add %a, %row_2 : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
      tgraph.yield %b : tensor<2x32xf32>
    }
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r : !tgraph.q8<2x32>
}
