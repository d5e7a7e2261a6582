// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// What stands between the parts and has nothing to do with them comes first.
// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x64xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: tgraph.silu
  // CHECK-NEXT: %h = tgraph.fused gemv_norm_epilogue(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}) -> (tensor<1x32xf32>) {
  // CHECK-NEXT:   %y = tgraph.matmul %x_1, %w_1
  // CHECK-NEXT:   %h_1 = tgraph.fused_row rms %y
  // CHECK-NEXT:   tgraph.yield %h_1
  // CHECK-NEXT: }
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %a = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %y cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %a, %h : tensor<1x64xf32>, tensor<1x32xf32>
}

// The residual on the left of the sum, which is kept, the product with its bias.
// CHECK-LABEL: func.func @residual_left
func.func @residual_left(%x: tensor<1x64xf32>, %r: tensor<1x32xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK:      %s, %h = tgraph.fused gemv_norm_epilogue(
  // CHECK-NEXT:   %z = tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %s_1, %h_1 = tgraph.fused add_norm(%r_2 = %r_1 : {{.*}}, %z_1 = %z : {{.*}})
  // CHECK-NEXT:     tgraph.elementwise add %r_2, %z_1
  // CHECK-NEXT:     tgraph.fused_row rms
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %s_1, %h_1
  // CHECK-NEXT: }
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %z = tgraph.elementwise add %y, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %s = tgraph.elementwise add %r, %z : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %s, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// The residual on the right, computed after the product; the norm quantized, its f32 form not read.
// CHECK-LABEL: func.func @residual_right
func.func @residual_right(%x: tensor<1x64xf32>, %r: tensor<1x32xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %a = tgraph.silu %r
  // CHECK-NEXT: %s, %q = tgraph.fused gemv_norm_epilogue(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}, %a_1 = %a : {{.*}}) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT:   %y = tgraph.matmul
  // CHECK-NEXT:   %s_1, %q_1 = tgraph.fused add_norm_quant(%y_1 = %y : {{.*}}, %a_2 = %a_1 : {{.*}})
  // CHECK-NEXT:     tgraph.fused add_norm(
  // CHECK:          tgraph.quantize
  // CHECK:        tgraph.yield %s_1, %q_1
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %a = tgraph.silu %r : tensor<1x32xf32> -> tensor<1x32xf32>
  %s = tgraph.elementwise add %y, %a : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %q = tgraph.quantize %h : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %s, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}

// A norm and its quantize without a sum; a norm that adds the product as its own residual.
// CHECK-LABEL: func.func @other_norms
func.func @other_norms(%x: tensor<1x64xf32>, %z: tensor<1x32xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>,
    %v: !tgraph.rows<bf16, 32x64, transposed>) -> (!tgraph.q8<1x32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %q = tgraph.fused gemv_norm_epilogue(
  // CHECK-NEXT:   tgraph.matmul
  // CHECK-NEXT:   tgraph.fused norm_quant(
  // CHECK:      %g = tgraph.fused gemv_norm_epilogue(
  // CHECK-NEXT:   %o = tgraph.matmul
  // CHECK-NEXT:   tgraph.fused_row rms {{.*}} residual %o
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %y cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %q = tgraph.quantize %h : tensor<1x32xf32> -> !tgraph.q8<1x32>
  %o = tgraph.matmul %x, %v : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %g = tgraph.fused_row rms %z residual %o cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %q, %g : !tgraph.q8<1x32>, tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @product_leaves
// CHECK-NOT: gemv_norm_epilogue
func.func @product_leaves(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %y cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %y, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: gemv_norm_epilogue
func.func @other_reader(%x: tensor<1x64xf32>, %r: tensor<1x32xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %a = tgraph.silu %y : tensor<1x32xf32> -> tensor<1x32xf32>
  %s = tgraph.elementwise add %r, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %a, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// Values, rows that are not the outputs, a norm of heads, a norm of something between.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: gemv_norm_epilogue
func.func @not_matched(%x: tensor<1x64xf32>, %v: tensor<64x32xf32>, %r: !tgraph.rows<bf16, 64x32>,
    %w: !tgraph.rows<bf16, 32x64, transposed>) -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %0 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %1 = tgraph.fused_row rms %0 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %2 = tgraph.matmul %x, %r : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x32xf32>
  %3 = tgraph.fused_row rms %2 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %4 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %5 = tgraph.fused_row rms %4 cols 16 eps 1.000000e-06 : tensor<1x32xf32>
  %6 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %7 = tgraph.scale %6 by 2.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  %8 = tgraph.fused_row rms %7 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %1, %3, %5, %8 : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}
