// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @quantized_only
func.func @quantized_only(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) -> !tgraph.q8<1x32> {
  // CHECK-NEXT: %q = tgraph.fused gemv_quant(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}) -> (!tgraph.q8<1x32>) {
  // CHECK-NEXT:   %y = tgraph.matmul
  // CHECK-NEXT:   %q_1 = tgraph.quantize %y
  // CHECK-NEXT:   tgraph.yield %q_1
  // CHECK-NEXT: }
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %q = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %q : !tgraph.q8<1x32>
}

// CHECK-LABEL: func.func @with_bias_beside_f32
func.func @with_bias_beside_f32(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK:      %s, %q = tgraph.fused gemv_quant(
  // CHECK-NEXT:   %s_1 = tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %q_1 = tgraph.quantize %s_1
  // CHECK-NEXT:   tgraph.yield %s_1, %q_1
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %s = tgraph.elementwise add %y, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %s : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %s, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}

// -----

// Values, and rows that are not the outputs.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: tgraph.fused
func.func @not_matched(%x: tensor<1x64xf32>, %v: tensor<64x32xf32>, %r: !tgraph.rows<bf16, 64x32>)
    -> (!tgraph.q8<1x32>, !tgraph.q8<1x32>) {
  %0 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %1 = tgraph.quantize %0 : tensor<1x32xf32> -> !tgraph.q8<1x32>
  %2 = tgraph.matmul %x, %r : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x32xf32>
  %3 = tgraph.quantize %2 : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %1, %3 : !tgraph.q8<1x32>, !tgraph.q8<1x32>
}
