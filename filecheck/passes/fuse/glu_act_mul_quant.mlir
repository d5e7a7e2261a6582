// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @of_swiglu
func.func @of_swiglu(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> !tgraph.q8<1x32> {
  // CHECK-NEXT: %q = tgraph.fused glu_act_mul_quant(%g_1 = %g : {{.*}}, %u_1 = %u : {{.*}}) -> (!tgraph.q8<1x32>) {
  // CHECK-NEXT:   tgraph.swiglu
  // CHECK-NEXT:   tgraph.quantize
  // CHECK-NEXT:   tgraph.yield %q_1
  %y = tgraph.swiglu %g, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %q : !tgraph.q8<1x32>
}

// CHECK-LABEL: func.func @of_act_mul_beside_f32
func.func @of_act_mul_beside_f32(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %y, %q = tgraph.fused glu_act_mul_quant(
  // CHECK-NEXT:   %y_1 = tgraph.fused glu_act_mul(
  // CHECK-NEXT:     tgraph.gelu exact
  // CHECK-NEXT:     tgraph.elementwise mul
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %q_1 = tgraph.quantize %y_1
  // CHECK-NEXT:   tgraph.yield %y_1, %q_1
  %a = tgraph.gelu exact %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %y, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}

// CHECK-LABEL: func.func @of_gated_pair
func.func @of_gated_pair(%x: !tgraph.q8<1x64>, %g: !tgraph.rows<q8_0, 32x64, transposed>,
    %u: !tgraph.rows<q8_0, 32x64, transposed>) -> !tgraph.q8<1x32> {
  // CHECK-NEXT: %q = tgraph.fused glu_act_mul_quant(
  // CHECK-NEXT:   tgraph.fused gemv_gate_up_glu(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.swiglu
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.quantize
  // CHECK-NEXT:   tgraph.yield %q_1
  %0 = tgraph.matmul %x, %g : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %u : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
  %2 = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %2 : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %q : !tgraph.q8<1x32>
}

// -----

// A product whose activation is read elsewhere is no gated unit: it is quantized as the elementwise product it is.
// CHECK-LABEL: func.func @activation_leaves
// CHECK-NOT: glu_act_mul_quant
// CHECK: tgraph.fused elementwise_quant(
func.func @activation_leaves(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  %a = tgraph.silu %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %q = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %a, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}
