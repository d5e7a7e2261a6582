// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The activation on the left and on the right of the product.
// CHECK-LABEL: func.func @left
func.func @left(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> tensor<1x32xf32> {
  // CHECK-NEXT: %y = tgraph.fused glu_act_mul(%g_1 = %g : tensor<1x32xf32>, %u_1 = %u : tensor<1x32xf32>) -> (tensor<1x32xf32>) {
  // CHECK-NEXT:   %a = tgraph.silu %g_1 number 0
  // CHECK-NEXT:   %y_1 = tgraph.elementwise mul %a, %u_1 number 1
  // CHECK-NEXT:   tgraph.yield %y_1
  // CHECK-NEXT: }
  %a = tgraph.silu %g number 0 : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %u number 1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// CHECK-LABEL: func.func @right
func.func @right(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %y = tgraph.fused glu_act_mul(
  // CHECK-NEXT:   %a = tgraph.gelu tanh
  // CHECK-NEXT:   %y_1 = tgraph.elementwise mul %u_1, %a
  // CHECK:      %z = tgraph.fused glu_act_mul(
  // CHECK-NEXT:   %b = tgraph.sigmoid
  // CHECK-NEXT:   %z_1 = tgraph.elementwise mul %u_1, %b
  %a = tgraph.gelu tanh %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %u, %a : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %b = tgraph.sigmoid %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %z = tgraph.elementwise mul %u, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y, %z : tensor<1x32xf32>, tensor<1x32xf32>
}

// The activation of one side has another reader; that of the other goes.
// CHECK-LABEL: func.func @other_side
func.func @other_side(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %a = tgraph.silu %g
  // CHECK-NEXT: %y = tgraph.fused glu_act_mul(%u_1 = %u : tensor<1x32xf32>, %a_1 = %a : tensor<1x32xf32>)
  // CHECK-NEXT:   %b = tgraph.sigmoid
  // CHECK-NEXT:   tgraph.elementwise mul %a_1, %b
  %a = tgraph.silu %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %b = tgraph.sigmoid %u : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y, %a : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @activation_leaves
// CHECK-NOT: tgraph.fused
func.func @activation_leaves(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.silu %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %a, %y : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: tgraph.fused
func.func @other_reader(%g: tensor<1x32xf32>, %u: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.silu %g : tensor<1x32xf32> -> tensor<1x32xf32>
  %y = tgraph.elementwise mul %a, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = tgraph.elementwise sub %a, %u : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y, %z : tensor<1x32xf32>, tensor<1x32xf32>
}

// A square of the activation, a sum, a row and a column repeated, and an op that is no gate.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: tgraph.fused
func.func @not_matched(%g: tensor<2x32xf32>, %u: tensor<2x32xf32>, %row: tensor<1x32xf32>, %column: tensor<2x1xf32>)
    -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>) {
  %0 = tgraph.silu %g : tensor<2x32xf32> -> tensor<2x32xf32>
  %1 = tgraph.elementwise mul %0, %0 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %2 = tgraph.silu %g : tensor<2x32xf32> -> tensor<2x32xf32>
  %3 = tgraph.elementwise add %2, %u : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %4 = tgraph.silu %g : tensor<2x32xf32> -> tensor<2x32xf32>
  %5 = tgraph.elementwise mul %4, %row : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %6 = tgraph.sigmoid %column : tensor<2x1xf32> -> tensor<2x1xf32>
  %7 = tgraph.elementwise mul %u, %6 : (tensor<2x32xf32>, tensor<2x1xf32>) -> tensor<2x32xf32>
  %8 = tgraph.scale %g by 2.000000e+00 : tensor<2x32xf32> -> tensor<2x32xf32>
  %9 = tgraph.elementwise mul %8, %u : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  func.return %1, %3, %5, %7, %9
    : tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>
}
