// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @swiglu
func.func @swiglu(%x: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32> {
  // CHECK-NEXT: %y = tgraph.fused gemv_gate_up_glu(%x_1 = %x : {{.*}}, %g_1 = %g : {{.*}}, %u_1 = %u : {{.*}}) -> (tensor<1x32xf32>) {
  // CHECK-NEXT:   %0 = tgraph.matmul %x_1, %g_1 number 0
  // CHECK-NEXT:   %1 = tgraph.matmul %x_1, %u_1 number 1
  // CHECK-NEXT:   %y_1 = tgraph.swiglu %0, %1 number 2
  // CHECK-NEXT:   tgraph.yield %y_1
  // CHECK-NEXT: }
  %0 = tgraph.matmul %x, %g number 0 : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %u number 1 : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %y = tgraph.swiglu %0, %1 number 2 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// The up product comes first in the block and has a bias; the gate is a gelu on the right of the product.
// CHECK-LABEL: func.func @act_mul
func.func @act_mul(%x: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32> {
  // CHECK:      %y = tgraph.fused gemv_gate_up_glu(
  // CHECK-NEXT:   %up = tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.matmul
  // CHECK-NEXT:   tgraph.fused glu_act_mul(
  // CHECK-NEXT:     %a = tgraph.gelu tanh
  // CHECK-NEXT:     tgraph.elementwise mul {{.*}}, %a
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %0 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %up = tgraph.elementwise add %0, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %2 = tgraph.matmul %x, %g : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %a = tgraph.gelu tanh %2 : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %up, %a : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @gate_leaves
// CHECK-NOT: gemv_gate_up_glu
func.func @gate_leaves(%x: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %0 = tgraph.matmul %x, %g : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %y = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %0, %y : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @up_has_a_reader
// CHECK-NOT: gemv_gate_up_glu
func.func @up_has_a_reader(%x: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %0 = tgraph.matmul %x, %g : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %2 = tgraph.silu %1 : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %2, %y : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @two_activations
// CHECK-NOT: gemv_gate_up_glu
func.func @two_activations(%x: tensor<1x64xf32>, %z: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32> {
  %0 = tgraph.matmul %x, %g : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %z, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %y = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// CHECK-LABEL: func.func @two_formats
// CHECK-NOT: gemv_gate_up_glu
func.func @two_formats(%x: tensor<1x64xf32>, %g: !tgraph.rows<bf16, 32x64, transposed>,
    %u: !tgraph.rows<f16, 32x64, transposed>) -> tensor<1x32xf32> {
  %0 = tgraph.matmul %x, %g : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<f16, 32x64, transposed>) -> tensor<1x32xf32>
  %y = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// Values, rows that are not the outputs, and one product on both sides.
// CHECK-LABEL: func.func @other_products
// CHECK-NOT: gemv_gate_up_glu
func.func @other_products(%x: tensor<1x64xf32>, %v: tensor<64x32xf32>, %r: !tgraph.rows<bf16, 64x32>,
    %u: !tgraph.rows<bf16, 32x64, transposed>) -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %0 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %1 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %2 = tgraph.swiglu %0, %1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %3 = tgraph.matmul %x, %r : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x32xf32>
  %4 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %5 = tgraph.swiglu %3, %4 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %6 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %7 = tgraph.swiglu %6, %6 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %2, %5, %7 : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}
