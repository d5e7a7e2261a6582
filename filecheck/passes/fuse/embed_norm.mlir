// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The row is a residual stream's first value: it has other readers, and is kept.
// CHECK-LABEL: func.func @row_kept
func.func @row_kept(%token: tensor<1xi32>, %w: tensor<32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %t = tgraph.constant
  // CHECK-NEXT: %x, %h = tgraph.fused embed_norm(%t_1 = %t : {{.*}}, %token_1 = %token : tensor<1xi32>, %w_1 = %w : tensor<32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT:   %x_1 = tgraph.row_gather %t_1 at %token_1
  // CHECK-NEXT:   %h_1 = tgraph.fused_row rms %x_1 weight %w_1
  // CHECK-NEXT:   tgraph.yield %x_1, %h_1
  // CHECK-NEXT: }
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %x = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %x, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// Several rows, scaled; the norm quantized; nothing else reads the rows.
// CHECK-LABEL: func.func @scaled_and_quantized
func.func @scaled_and_quantized(%tokens: tensor<3xi32>) -> !tgraph.q8<3x32> {
  // CHECK:      %q = tgraph.fused embed_norm(
  // CHECK-NEXT:   tgraph.fused embed_scale(
  // CHECK-NEXT:     tgraph.rows_gather
  // CHECK-NEXT:     tgraph.scale
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused norm_quant(
  // CHECK-NEXT:     tgraph.fused_row rms
  // CHECK-NEXT:     tgraph.quantize
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %q_1 : !tgraph.q8<3x32>
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %x = tgraph.rows_gather %t at %tokens : (!tgraph.rows<bf16, 8x32>, tensor<3xi32>) -> tensor<3x32xf32>
  %y = tgraph.scale %x by 8.000000e+00 : tensor<3x32xf32> -> tensor<3x32xf32>
  %h = tgraph.fused_row rms %y cols 32 eps 1.000000e-06 : tensor<3x32xf32>
  %q = tgraph.quantize %h : tensor<3x32xf32> -> !tgraph.q8<3x32>
  func.return %q : !tgraph.q8<3x32>
}

// -----

// A fixed row, a computed table, a norm of heads, a norm with a residual of its own, a norm of a sum.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: embed_norm
func.func @not_matched(%token: tensor<1xi32>, %table: tensor<8x32xf32>, %y: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %0 = tgraph.row_gather %t row 3 : (!tgraph.rows<bf16, 8x32>) -> tensor<1x32xf32>
  %1 = tgraph.fused_row rms %0 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %2 = tgraph.row_gather %table at %token : (tensor<8x32xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %3 = tgraph.fused_row rms %2 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %4 = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %5 = tgraph.fused_row rms %4 cols 16 eps 1.000000e-06 : tensor<1x32xf32>
  %6 = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %7 = tgraph.fused_row rms %6 residual %y cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %8 = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %9 = tgraph.elementwise add %8, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %10 = tgraph.fused_row rms %9 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %1, %3, %5, %7, %10
    : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}
