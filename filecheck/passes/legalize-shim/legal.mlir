// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file | filecheck %s

// The legal neighbour of each row of refused.mlir: left as it is.

// CHECK-LABEL: func.func @rows_that_are_not_outputs(
// CHECK: %y = tgraph.matmul %
// CHECK-NEXT: func.return
func.func @rows_that_are_not_outputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @computed_matrix(
// CHECK: %y = tgraph.matmul %
// CHECK-NEXT: func.return
func.func @computed_matrix(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<64x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @product_by_blocks(
// CHECK: %y = tgraph.matmul %
// CHECK-NEXT: func.return
func.func @product_by_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_0, 32x64, transposed>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<q4_0, 32x64, transposed>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @layernorm(
// CHECK: %y = tgraph.fused_row rms %
// CHECK-NEXT: func.return
func.func @layernorm(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.fused_row rms %x cols 64 eps 1.0 : tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK: %y = tgraph.fused_row rms %
// CHECK-NEXT: func.return
func.func @softmax(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.fused_row rms %x cols 32 eps 1.0 : tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @norm_with_a_bias(
// CHECK: %y = tgraph.fused_row rms %
// CHECK-NEXT: func.return
func.func @norm_with_a_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %b: tensor<64xf32>) {
  %y = tgraph.fused_row rms %x weight %b : tensor<64xf32> residual %x cols 64 eps 1.0 : tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @wide_rotated_head(
// CHECK: %y = tgraph.rope %
// CHECK-NEXT: func.return
func.func @wide_rotated_head(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x2048xf32>, %p: tensor<1xi32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0], scale 1.0> : tensor<8x1xf32>
  %y = tgraph.rope %x, %c, %c at %p heads 2 head_dim 1024 half 1
    : (tensor<1x2048xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<1xi32>) -> tensor<1x2048xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @softcap(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @softcap(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 32 window 4 scale 50.0
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @heads_that_do_not_group(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @heads_that_do_not_group(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x128xf32>, %v: tensor<8x128xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 4 head_dim 32 value_dim 32
    : tensor<1x128xf32>, tensor<8x128xf32>, tensor<8x128xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @key_head_not_by_four(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @key_head_not_by_four(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x112xf32>, %k: tensor<8x56xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 28 value_dim 32
    : tensor<1x112xf32>, tensor<8x56xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @odd_value_head(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @odd_value_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x60xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 30
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x60xf32> -> tensor<1x120xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @wide_value_head(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @wide_value_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x1024xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 512
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x1024xf32> -> tensor<1x2048xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @attention_without_a_position(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @attention_without_a_position(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @wide_key_head(
// CHECK: %y = tgraph.attention %
// CHECK-NEXT: func.return
func.func @wide_key_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x1024xf32>, %k: tensor<8x1024xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 1 kv_heads 1 head_dim 1024 value_dim 64
    : tensor<1x1024xf32>, tensor<8x1024xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @fixed_row_of_a_constant(
// CHECK: %y = tgraph.row_gather %
// CHECK-NEXT: func.return
func.func @fixed_row_of_a_constant(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %t: tensor<8x64xf32>) {
  %y = tgraph.row_gather %t row 3 : (tensor<8x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @row_of_a_computed_table(
// CHECK: %y = tgraph.row_gather %
// CHECK-NEXT: func.return
func.func @row_of_a_computed_table(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x64xf32>
  %y = tgraph.row_gather %t at %p : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @rows_of_a_computed_table(
// CHECK: %y = tgraph.rows_gather %
// CHECK-NEXT: func.return
func.func @rows_of_a_computed_table(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x64xf32>
  %y = tgraph.rows_gather %t at %p : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @row_of_blocks(
// CHECK: %y = tgraph.row_gather %
// CHECK-NEXT: func.return
func.func @row_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : !tgraph.rows<q6_k, 8x256>
  %y = tgraph.row_gather %t at %p : (!tgraph.rows<q6_k, 8x256>, tensor<1xi32>) -> tensor<1x256xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @rows_of_blocks(
// CHECK: %y = tgraph.rows_gather %
// CHECK-NEXT: func.return
func.func @rows_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : !tgraph.rows<f16, 8x64>
  %y = tgraph.rows_gather %t at %p : (!tgraph.rows<f16, 8x64>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @row_of_a_table_of_odd_width(
// CHECK: %y = tgraph.row_gather %
// CHECK-NEXT: func.return
func.func @row_of_a_table_of_odd_width(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %t: tensor<8x62xf32>) {
  %y = tgraph.row_gather %t row 1 : (tensor<8x62xf32>) -> tensor<1x62xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @rows_of_a_table_of_odd_width(
// CHECK: %y = tgraph.rows_gather %
// CHECK-NEXT: func.return
func.func @rows_of_a_table_of_odd_width(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : !tgraph.rows<f32, 8x62>
  %y = tgraph.rows_gather %t at %p : (!tgraph.rows<f32, 8x62>, tensor<1xi32>) -> tensor<1x62xf32>
  func.return
}
