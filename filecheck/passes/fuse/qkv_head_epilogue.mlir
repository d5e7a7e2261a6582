// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @rotation
func.func @rotation(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 128x64, transposed>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %pos: tensor<1xi32>) -> tensor<1x128xf32> {
  // CHECK-NEXT: %r = tgraph.fused qkv_head_epilogue(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}, %cos_1 = %cos : {{.*}}, %sin_1 = %sin : {{.*}}, %pos_1 = %pos : {{.*}}) -> (tensor<1x128xf32>) {
  // CHECK-NEXT:   %y = tgraph.matmul %x_1, %w_1
  // CHECK-NEXT:   %r_1 = tgraph.rope %y, %cos_1, %sin_1 at %pos_1
  // CHECK-NEXT:   tgraph.yield %r_1
  // CHECK-NEXT: }
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %r = tgraph.rope %y, %cos, %sin at %pos heads 4 head_dim 32 half 16
    : (tensor<1x128xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
  func.return %r : tensor<1x128xf32>
}

// A product with its bias; a norm of the heads; rows that land in a table.
// CHECK-LABEL: func.func @everything
func.func @everything(%x: !tgraph.q8<1x64>, %w: !tgraph.rows<q8_0, 64x64, transposed>, %n: tensor<32xf32>,
    %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>, %k: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK:      %t = tgraph.fused qkv_head_epilogue(
  // CHECK-NEXT:   tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused row_in_place(
  // CHECK-NEXT:     tgraph.fused qk_norm_rope(
  // CHECK-NEXT:       tgraph.fused_row rms
  // CHECK-NEXT:       tgraph.rope
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.set_row
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield {{.*}} : tensor<8x64xf32>
  // CHECK-NEXT: }
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x64xf32>
  %y = tgraph.matmul %x, %w : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 64x64, transposed>) -> tensor<1x64xf32>
  %z = tgraph.elementwise add %y, %b : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %z weight %n : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %r = tgraph.rope %h, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %r at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %t : tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func.func @product_leaves
// CHECK-NOT: qkv_head_epilogue
func.func @product_leaves(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 128x64, transposed>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %pos: tensor<1xi32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %r = tgraph.rope %y, %cos, %sin at %pos heads 4 head_dim 32 half 16
    : (tensor<1x128xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
  func.return %y, %r : tensor<1x128xf32>, tensor<1x128xf32>
}

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: qkv_head_epilogue
func.func @other_reader(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 128x64, transposed>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %pos: tensor<1xi32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %a = tgraph.silu %y : tensor<1x128xf32> -> tensor<1x128xf32>
  %r = tgraph.rope %y, %cos, %sin at %pos heads 4 head_dim 32 half 16
    : (tensor<1x128xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
  func.return %a, %r : tensor<1x128xf32>, tensor<1x128xf32>
}

// Part of the product's row, values, rows that are not the outputs.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: qkv_head_epilogue
func.func @not_matched(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 128x64, transposed>, %v: tensor<64x64xf32>,
    %u: !tgraph.rows<bf16, 64x64>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %1 = tgraph.head_slice %0 start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %2 = tgraph.rope %1, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %3 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %4 = tgraph.rope %3, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %5 = tgraph.matmul %x, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x64xf32>
  %6 = tgraph.rope %5, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %2, %4, %6 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
