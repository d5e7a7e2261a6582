// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The bias on the right and on the left; rows of any format, and values.
// CHECK-LABEL: func.func @right
func.func @right(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32> {
  // CHECK-NEXT: %b = tgraph.constant
  // CHECK-NEXT: %s = tgraph.fused gemm_bias(%x_1 = %x : tensor<2x64xf32>, %w_1 = %w : {{.*}}, %b_1 = %b : tensor<1x32xf32>) -> (tensor<2x32xf32>) {
  // CHECK-NEXT:   %y = tgraph.matmul %x_1, %w_1 number 0
  // CHECK-NEXT:   %s_1 = tgraph.elementwise add %y, %b_1 number 1
  // CHECK-NEXT:   tgraph.yield %s_1
  // CHECK-NEXT: }
  %y = tgraph.matmul %x, %w number 0 : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %s = tgraph.elementwise add %y, %b number 1 : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  func.return %s : tensor<2x32xf32>
}

// CHECK-LABEL: func.func @left
func.func @left(%x: tensor<1x64xf32>, %w: tensor<64x32xf32>) -> tensor<1x32xf32> {
  // CHECK:      %s = tgraph.fused gemm_bias(
  // CHECK-NEXT:   %y = tgraph.matmul
  // CHECK-NEXT:   %s_1 = tgraph.elementwise add %b_1, %y
  // CHECK-NEXT:   tgraph.yield
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %s = tgraph.elementwise add %b, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %s : tensor<1x32xf32>
}

// A bias under a norm belongs to the product, not to the norm.
// CHECK-LABEL: func.func @before_a_norm
func.func @before_a_norm(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32> {
  // CHECK:      tgraph.fused gemv_norm_epilogue(
  // CHECK-NEXT:   tgraph.fused gemm_bias(
  // CHECK-NOT:    add_norm
  // CHECK:        tgraph.fused_row rms
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %s = tgraph.elementwise add %y, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %h : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @product_leaves
// CHECK-NOT: tgraph.fused
func.func @product_leaves(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %s = tgraph.elementwise add %y, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  func.return %y, %s : tensor<1x32xf32>, tensor<1x32xf32>
}

// A computed row, a constant of all rows, a column, a difference, the product added to itself.
// CHECK-LABEL: func.func @not_a_bias
// CHECK-NOT: tgraph.fused
func.func @not_a_bias(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %row: tensor<1x32xf32>)
    -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>) {
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %all = tgraph.constant #tgraph.checkpoint<"all"> : tensor<2x32xf32>
  %column = tgraph.constant #tgraph.checkpoint<"column"> : tensor<2x1xf32>
  %h = tgraph.silu %x : tensor<2x64xf32> -> tensor<2x64xf32>
  %i = tgraph.sigmoid %x : tensor<2x64xf32> -> tensor<2x64xf32>
  %j = tgraph.gelu exact %x : tensor<2x64xf32> -> tensor<2x64xf32>
  %k = tgraph.gelu tanh %x : tensor<2x64xf32> -> tensor<2x64xf32>
  %0 = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %1 = tgraph.elementwise add %0, %row : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %2 = tgraph.matmul %h, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %3 = tgraph.elementwise add %2, %all : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %4 = tgraph.matmul %i, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %5 = tgraph.elementwise add %4, %column : (tensor<2x32xf32>, tensor<2x1xf32>) -> tensor<2x32xf32>
  %6 = tgraph.matmul %j, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %7 = tgraph.elementwise sub %6, %b : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %8 = tgraph.matmul %k, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %9 = tgraph.elementwise add %8, %8 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  func.return %1, %3, %5, %7, %9
    : tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>
}
