// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A sandwich's inner norm on the right of the sum, and on the left; the sum is the next residual. Each norm has its eps.
// CHECK-LABEL: func.func @right
func.func @right(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>, %w: tensor<64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused norm_then_add(%o_1 = %o : {{.*}}, %v_1 = %v : {{.*}}, %x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   %n = tgraph.fused_row rms %o_1 weight %v_1 : tensor<64xf32> cols 64 eps 1.000000e-05 number 0
  // CHECK-NEXT:   %s_1, %h_1 = tgraph.fused add_norm(
  // CHECK-NEXT:     tgraph.elementwise add %x_2, %n_1 number 1
  // CHECK-NEXT:     tgraph.fused_row rms {{.*}} eps 1.000000e-06 number 2
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %s_1, %h_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %s, %h
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-05 number 0 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n number 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 number 2 : tensor<1x64xf32>
  func.return %s, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @left
func.func @left(%x: tensor<2x64xf32>, %o: tensor<2x64xf32>, %v: tensor<64xf32>, %w: tensor<64xf32>)
    -> tensor<2x64xf32> {
  // CHECK-NEXT: %h = tgraph.fused norm_then_add({{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   tgraph.fused_row
  // CHECK-NEXT:   tgraph.fused add_norm({{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:     tgraph.elementwise add %n_1, %x_2
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  %s = tgraph.elementwise add %n, %x : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %h = tgraph.fused_row rms %s weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  func.return %h : tensor<2x64xf32>
}

// A norm with a residual of its own, as its row and as its residual; a product before the sandwich; a quantize after.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>, %w: tensor<64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %h = tgraph.fused norm_then_add(
  // CHECK-NEXT:   tgraph.fused_row rms %o_1
  // CHECK-NEXT:   tgraph.fused_row rms %n weight %w_1 : tensor<64xf32> residual %x_1
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %i = tgraph.fused norm_then_add(
  // CHECK-NEXT:   tgraph.fused_row rms %o_1
  // CHECK-NEXT:   tgraph.fused_row rms %x_1 weight %w_1 : tensor<64xf32> residual %m
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %h = tgraph.fused_row rms %n weight %w : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %m = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %i = tgraph.fused_row rms %x weight %w : tensor<64xf32> residual %m cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h, %i : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @folded_and_quantized
func.func @folded_and_quantized(%a: tensor<1x64xf32>, %x: tensor<1x64xf32>, %p: !tgraph.rows<bf16, 64x64, transposed>,
    %v: tensor<64xf32>, %w: tensor<64xf32>) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT: %s, %q = tgraph.fused gemv_norm_epilogue({{.*}}) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT:   tgraph.matmul
  // CHECK-NEXT:   tgraph.fused add_norm_quant({{.*}}) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT:     tgraph.fused norm_then_add({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:       tgraph.fused_row
  // CHECK-NEXT:       tgraph.fused add_norm(
  // CHECK:            tgraph.yield {{.*}} : tensor<1x64xf32>, tensor<1x64xf32>
  // CHECK-NEXT:       }
  // CHECK-NEXT:       tgraph.yield {{.*}} : tensor<1x64xf32>, tensor<1x64xf32>
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.quantize %h
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %o = tgraph.matmul %a, %p : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %s, %q : tensor<1x64xf32>, !tgraph.q8<1x64>
}

// Both sides are normed: one is normed inside.
// CHECK-LABEL: func.func @both_sides
func.func @both_sides(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.fused_row
  // CHECK-NEXT: tgraph.fused norm_then_add(
  %m = tgraph.fused_row rms %x weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %n, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// -----

// The product is the side that is not normed: what a launch before writes is what the sandwich norms first.
// CHECK-LABEL: func.func @product_beside
func.func @product_beside(%a: tensor<1x64xf32>, %o: tensor<1x64xf32>, %p: !tgraph.rows<bf16, 64x64, transposed>,
    %v: tensor<64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.matmul
  // CHECK-NEXT: tgraph.fused norm_then_add(
  %x = tgraph.matmul %a, %p : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @product_beside_quantized
// CHECK-NOT: gemv_norm_epilogue
func.func @product_beside_quantized(%a: tensor<1x64xf32>, %o: tensor<1x64xf32>,
    %p: !tgraph.rows<bf16, 64x64, transposed>, %v: tensor<64xf32>) -> !tgraph.q8<1x64> {
  %x = tgraph.matmul %a, %p : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %q : !tgraph.q8<1x64>
}

// The sum of a sandwich is quantized, not its norm.
// CHECK-LABEL: func.func @sum_quantized
// CHECK-NOT: add_norm_quant
func.func @sum_quantized(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>)
    -> (!tgraph.q8<1x64>, tensor<1x64xf32>) {
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.quantize %s : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %q, %h : !tgraph.q8<1x64>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @inner_leaves
// CHECK-NOT: norm_then_add
func.func @inner_leaves(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %n, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @inner_read
// CHECK-NOT: norm_then_add
func.func @inner_read(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %r = tgraph.silu %n : tensor<1x64xf32> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %x, %n : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %r, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// Twice the inner norm; inner norms without a weight, by layer norm, with a bias, with a residual, of heads; no sum.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: norm_then_add
func.func @not_matched(%x: tensor<1x64xf32>, %o: tensor<1x64xf32>, %v: tensor<64xf32>, %u: tensor<32xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>,
        tensor<1x64xf32>) {
  %0 = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.elementwise add %0, %0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %a = tgraph.fused_row rms %1 weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %2 = tgraph.fused_row rms %o cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %b = tgraph.fused_row rms %2 weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %3 = tgraph.fused_row layernorm %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %c = tgraph.fused_row rms %3 weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %4 = tgraph.fused_row rms %o weight %v : tensor<64xf32> bias %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %d = tgraph.fused_row rms %4 weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %5 = tgraph.fused_row rms %o weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %e = tgraph.fused_row rms %5 weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %6 = tgraph.fused_row rms %o weight %u : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %f = tgraph.fused_row rms %6 weight %v : tensor<64xf32> residual %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %7 = tgraph.fused_row rms %o weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %g = tgraph.fused_row rms %7 weight %v : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %a, %b, %c, %d, %e, %f, %g
    : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>,
      tensor<1x64xf32>
}
