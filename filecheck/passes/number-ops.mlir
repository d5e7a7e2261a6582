// RUN: lanelink-opt %s -p number-ops --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p number-ops,number-ops --split-input-file | filecheck %s

// Constants and what is not of the graph carry no number; each function counts for itself.
// CHECK-LABEL: func.func @first
func.func @first(%token: tensor<1xi32>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  // CHECK: tgraph.constant #tgraph.checkpoint<"table"> : tensor<8x32xf32>
  %t = tgraph.constant #tgraph.checkpoint<"table"> : tensor<8x32xf32>
  // CHECK-NEXT: tgraph.row_gather %t at %token number 0
  %x = tgraph.row_gather %t at %token : (tensor<8x32xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  // CHECK-NEXT: tgraph.elementwise add %x, %y number 1
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  // CHECK-NEXT: tgraph.silu %s number 2
  %r = tgraph.silu %s : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %r : tensor<1x32xf32>
}

// CHECK-LABEL: func.func @second
func.func @second(%x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  // CHECK-NEXT: tgraph.silu %x number 0
  %r = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %r : tensor<1x32xf32>
}

// -----

// Parts of fused ops, at any depth, are numbered in their turn; the fused op has no number. Old numbers go.
// CHECK-LABEL: func.func @inside
func.func @inside(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK: tgraph.sigmoid %x number 0
  %a = tgraph.sigmoid %x number 7 : tensor<1x32xf32> -> tensor<1x32xf32>
  // CHECK-NEXT: tgraph.fused add_norm_quant(
  %s, %q = tgraph.fused add_norm_quant(%b = %a : tensor<1x32xf32>, %c = %y : tensor<1x32xf32>)
    -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
    // CHECK-NEXT: tgraph.fused add_norm(
    %s1, %n1 = tgraph.fused add_norm(%d = %b : tensor<1x32xf32>, %e = %c : tensor<1x32xf32>)
      -> (tensor<1x32xf32>, tensor<1x32xf32>) {
      // CHECK-NEXT: tgraph.elementwise add %d, %e number 1
      %s2 = tgraph.elementwise add %d, %e number 7 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
      // CHECK-NEXT: tgraph.fused_row rms %s2 cols 32 eps 1.000000e-06 number 2
      %n2 = tgraph.fused_row rms %s2 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
      tgraph.yield %s2, %n2 : tensor<1x32xf32>, tensor<1x32xf32>
    }
    // CHECK: tgraph.quantize %n1 number 3
    %q1 = tgraph.quantize %n1 : tensor<1x32xf32> -> !tgraph.q8<1x32>
    tgraph.yield %s1, %q1 : tensor<1x32xf32>, !tgraph.q8<1x32>
  }
  // CHECK: tgraph.silu %s number 4
  %r = tgraph.silu %s number 0 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %r, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}
