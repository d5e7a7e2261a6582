// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file --verify-diagnostics | filecheck %s

// Every row of passes/refusals.py. The same steps a little changed, which pass, are in legal.mlir.

// rows_that_are_not_outputs
// CHECK: op 0 tgraph.matmul: expected each checkpoint row of the weight to be one output (transposed), got !tgraph.rows<bf16, 64x32>
func.func @rows_that_are_not_outputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x32xf32>
  func.return
}

// -----

// computed_matrix
// CHECK: op 1 tgraph.matmul: expected a constant matrix, got one computed in the step
func.func @computed_matrix(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<64x32xf32>) {
  %w = tgraph.silu %a : tensor<64x32xf32> -> tensor<64x32xf32>
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

// layernorm
// CHECK: op 0 tgraph.fused_row: expected an rms norm, got layernorm
func.func @layernorm(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.fused_row layernorm %x cols 64 eps 1.0 : tensor<1x64xf32>
  func.return
}

// -----

// softmax
// CHECK: op 0 tgraph.fused_row: expected an rms norm, got softmax
func.func @softmax(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.fused_row softmax %x cols 64 : tensor<1x64xf32>
  func.return
}

// -----

// norm_with_a_bias
// CHECK: op 0 tgraph.fused_row: expected an rms norm without a bias, got one
func.func @norm_with_a_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %b: tensor<64xf32>) {
  %y = tgraph.fused_row rms %x bias %b : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return
}

// -----

// wide_rotated_head
// CHECK: op 0 tgraph.rope: expected heads of at most 1024 values, got 1026
func.func @wide_rotated_head(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x1026xf32>, %p: tensor<1xi32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0], scale 1.0> : tensor<8x1xf32>
  %y = tgraph.rope %x, %c, %c at %p heads 1 head_dim 1026 half 1
    : (tensor<1x1026xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<1xi32>) -> tensor<1x1026xf32>
  func.return
}

// -----

// softcap
// CHECK: op 0 tgraph.attention: expected scores without a soft cap, got one
func.func @softcap(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 32 softcap 50.0
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// heads_that_do_not_group
// CHECK: op 0 tgraph.attention: expected query heads that group evenly over the key heads, got 4 over 3
func.func @heads_that_do_not_group(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x96xf32>, %v: tensor<8x96xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 3 head_dim 32 value_dim 32
    : tensor<1x128xf32>, tensor<8x96xf32>, tensor<8x96xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// key_head_not_by_four
// CHECK: op 0 tgraph.attention: expected key heads of a multiple of 4 values and value heads of a multiple of 2, got 30 and 32
func.func @key_head_not_by_four(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x120xf32>, %k: tensor<8x60xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 30 value_dim 32
    : tensor<1x120xf32>, tensor<8x60xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// odd_value_head
// CHECK: op 0 tgraph.attention: expected key heads of a multiple of 4 values and value heads of a multiple of 2, got 32 and 31
func.func @odd_value_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x62xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 31
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x62xf32> -> tensor<1x124xf32>
  func.return
}

// -----

// wide_value_head
// CHECK: op 0 tgraph.attention: expected value heads of at most 512 values, got 514
func.func @wide_value_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x1028xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 32 value_dim 514
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x1028xf32> -> tensor<1x2056xf32>
  func.return
}

// -----

// attention_without_a_position
// CHECK: op 0 tgraph.attention: expected a position on the device that bounds the rows attended to, got none
func.func @attention_without_a_position(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v heads 4 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  func.return
}

// -----

// wide_key_head
// CHECK: op 0 tgraph.attention: expected a head that one block's shared memory holds, got 60000 key and 64 value values
func.func @wide_key_head(%token: tensor<1xi32> {tgraph.token}, %q: tensor<1x60000xf32>, %k: tensor<8x60000xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.attention %q, %k, %v at %p heads 1 kv_heads 1 head_dim 60000 value_dim 64
    : tensor<1x60000xf32>, tensor<8x60000xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// fixed_row_of_a_constant
// CHECK: op 0 tgraph.row_gather: expected a row index on the device into a constant table, got a fixed row
func.func @fixed_row_of_a_constant(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x64xf32>
  %y = tgraph.row_gather %t row 3 : (tensor<8x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// row_of_a_computed_table
// CHECK: op 0 tgraph.row_gather: expected a constant table, got one computed in the step
func.func @row_of_a_computed_table(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %t: tensor<8x64xf32>) {
  %y = tgraph.row_gather %t at %p : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// rows_of_a_computed_table
// CHECK: op 0 tgraph.rows_gather: expected a constant table, got one computed in the step
func.func @rows_of_a_computed_table(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %t: tensor<8x64xf32>) {
  %y = tgraph.rows_gather %t at %p : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// row_of_a_table_of_odd_width
// CHECK: op 0 tgraph.row_gather: expected rows of a multiple of 4 values in a table of values, got tensor<8x62xf32>
func.func @row_of_a_table_of_odd_width(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x62xf32>
  %y = tgraph.row_gather %t at %p : (tensor<8x62xf32>, tensor<1xi32>) -> tensor<1x62xf32>
  func.return
}

// -----

// rows_of_a_table_of_odd_width
// CHECK: op 0 tgraph.rows_gather: expected rows of a multiple of 4 values in a table of values, got tensor<8x62xf32>
func.func @rows_of_a_table_of_odd_width(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x62xf32>
  %y = tgraph.rows_gather %t at %p : (tensor<8x62xf32>, tensor<1xi32>) -> tensor<1x62xf32>
  func.return
}
