// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @quantized_only
func.func @quantized_only(%x: tensor<2x32xf32>, %row: tensor<1x32xf32>) -> !tgraph.q8<2x32> {
  // CHECK-NEXT: %q = tgraph.fused elementwise_quant(%x_1 = %x : tensor<2x32xf32>, %row_1 = %row : tensor<1x32xf32>) -> (!tgraph.q8<2x32>) {
  // CHECK-NEXT:   tgraph.elementwise mul %x_1, %row_1
  // CHECK-NEXT:   tgraph.quantize
  // CHECK-NEXT:   tgraph.yield %q_1
  // CHECK-NEXT: }
  %y = tgraph.elementwise mul %x, %row : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %q = tgraph.quantize %y : tensor<2x32xf32> -> !tgraph.q8<2x32>
  func.return %q : !tgraph.q8<2x32>
}

// CHECK-LABEL: func.func @beside_f32
func.func @beside_f32(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %s, %q = tgraph.fused elementwise_quant(
  // CHECK-NEXT:   tgraph.elementwise add
  // CHECK-NEXT:   tgraph.quantize
  // CHECK-NEXT:   tgraph.yield %s_1, %q_1
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %s : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %s, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}

// -----

// CHECK-LABEL: func.func @one_operand
// CHECK-NOT: tgraph.fused
func.func @one_operand(%x: tensor<1x32xf32>) -> !tgraph.q8<1x32> {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32>
  %q = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %q : !tgraph.q8<1x32>
}
