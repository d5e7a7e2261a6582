// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "fused_row_of_a_vector"
// CHECK: | Operation does not verify: fused_row x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @fused_row_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 eps 1.0 : tensor<64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_of_no_columns"
// CHECK: | Operation does not verify: fused_row cols: expected a divisor of the row's 64 values, got 0
func.func @fused_row_of_no_columns(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 0 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_of_negative_columns"
// CHECK: | Operation does not verify: fused_row cols: expected a divisor of the row's 64 values, got -8
func.func @fused_row_of_negative_columns(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols -8 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_that_does_not_divide"
// CHECK: | Operation does not verify: fused_row cols: expected a divisor of the row's 64 values, got 48
func.func @fused_row_that_does_not_divide(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 48 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softmax_with_a_weight"
// CHECK: | Operation does not verify: fused_row softmax: expected no weight, got one
func.func @softmax_with_a_weight(%x: tensor<2x64xf32>, %w: tensor<64xf32>) {
  %y = tgraph.fused_row softmax %x weight %w : tensor<64xf32> cols 64 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softmax_with_a_bias"
// CHECK: | Operation does not verify: fused_row softmax: expected no bias, got one
func.func @softmax_with_a_bias(%x: tensor<2x64xf32>, %w: tensor<64xf32>) {
  %y = tgraph.fused_row softmax %x bias %w : tensor<64xf32> cols 64 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softmax_with_an_eps"
// CHECK: | Operation does not verify: fused_row softmax: expected no eps, got one
func.func @softmax_with_an_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row softmax %x cols 64 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_without_an_eps"
// CHECK: | Operation does not verify: fused_row rms: expected an eps, got none
func.func @rms_without_an_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "layernorm_without_an_eps"
// CHECK: | Operation does not verify: fused_row layernorm: expected an eps, got none
func.func @layernorm_without_an_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row layernorm %x cols 64 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_of_a_negative_eps"
// CHECK: | Operation does not verify: fused_row eps: expected a finite number of at least 0, got -1.0
func.func @rms_of_a_negative_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 eps -1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_of_a_nan_eps"
// CHECK: | Operation does not verify: fused_row eps: expected a finite number of at least 0, got nan
func.func @rms_of_a_nan_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 eps 0x7fc00000 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_with_a_weight_of_a_row"
// CHECK: | Operation does not verify: fused_row weight: expected tensor<16xf32>, got tensor<64xf32>
func.func @rms_with_a_weight_of_a_row(%x: tensor<2x64xf32>, %w: tensor<64xf32>) {
  %y = tgraph.fused_row rms %x weight %w : tensor<64xf32> cols 16 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_with_a_weight_of_checkpoint_rows"
// CHECK: | Operation does not verify: fused_row weight: expected tensor<64xf32>, got !tgraph.rows<bf16, 1x64>
func.func @rms_with_a_weight_of_checkpoint_rows(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 1x64>) {
  %y = tgraph.fused_row rms %x weight %w : !tgraph.rows<bf16, 1x64> cols 64 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "layernorm_with_a_bias_row"
// CHECK: | Operation does not verify: fused_row bias: expected tensor<64xf32>, got tensor<1x64xf32>
func.func @layernorm_with_a_bias_row(%x: tensor<2x64xf32>, %w: tensor<1x64xf32>) {
  %y = tgraph.fused_row layernorm %x bias %w : tensor<1x64xf32> cols 64 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: %y = tgraph.fused_row group %x cols 64 eps 1.0 : tensor<2x64xf32>
// CHECK: Expected `rms`, `layernorm`, or `softmax`.
func.func @fused_row_by_another_word(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row group %x cols 64 eps 1.0 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_to_another_shape"
// CHECK: | attribute tensor<2x64xf32> expected from variable 'T', but got tensor<1x64xf32>
func.func @fused_row_to_another_shape(%x: tensor<2x64xf32>) {
  %y = "tgraph.fused_row"(%x) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.0 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_with_another_residual"
// CHECK: | attribute tensor<2x64xf32> expected from variable 'T', but got tensor<1x64xf32>
func.func @fused_row_with_another_residual(%x: tensor<2x64xf32>, %r: tensor<1x64xf32>) {
  %y = "tgraph.fused_row"(%x, %r) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.0 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_of_miscounted_operands"
// CHECK: | Operation does not verify: operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'
func.func @fused_row_of_miscounted_operands(%x: tensor<2x64xf32>) {
  %y = "tgraph.fused_row"(%x) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.0 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_of_a_vector"
// CHECK: | Operation does not verify: rope x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @rope_of_a_vector(%x: tensor<64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @rope_of_no_heads(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 0 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_of_empty_heads"
// CHECK: | Operation does not verify: head_dim: expected at least 1, got 0
func.func @rope_of_empty_heads(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 0 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_of_no_pairs"
// CHECK: | Operation does not verify: half: expected at least 1, got 0
func.func @rope_of_no_pairs(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 0 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_of_another_width"
// CHECK: | Operation does not verify: rope x width: 4 heads of 8: expected 32, got 64
func.func @rope_of_another_width(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 8 half 4 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_past_its_head"
// CHECK: | Operation does not verify: rope half: expected at most 8 in a head of 16, got 9
func.func @rope_past_its_head(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 9 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_a_vector_of_cosines"
// CHECK: | Operation does not verify: rope cos: expected a static tensor<RxWxf32>, got tensor<8xf32>
func.func @rope_by_a_vector_of_cosines(%x: tensor<2x64xf32>, %c: tensor<8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_rows_of_sines"
// CHECK: | Operation does not verify: rope sin: expected a static tensor<RxWxf32>, got !tgraph.rows<f32, 32x8>
func.func @rope_by_rows_of_sines(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: !tgraph.rows<f32, 32x8>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, !tgraph.rows<f32, 32x8>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_unlike_tables"
// CHECK: | Operation does not verify: rope tables: sin against cos: expected (32, 8), got (16, 8)
func.func @rope_by_unlike_tables(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<16x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<16x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_wide_tables"
// CHECK: | Operation does not verify: rope table width: expected 4, got 8
func.func @rope_by_wide_tables(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 4 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_uncut_tables"
// CHECK: | Operation does not verify: rope table rows without a position: expected 2, got 32
func.func @rope_by_uncut_tables(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>) {
  %y = tgraph.rope %x, %c, %s heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_by_short_tables"
// CHECK: | Operation does not verify: rope table rows: expected at least the step's 2, got 1
func.func @rope_by_short_tables(%x: tensor<2x64xf32>, %c: tensor<1x8xf32>, %s: tensor<1x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_to_another_shape"
// CHECK: | Operation does not verify: rope result: expected (2, 64), got (1, 64)
func.func @rope_to_another_shape(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<1xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: Expected attribute tensor<1xi32> but got tensor<2xi32>
func.func @rope_at_two_positions(%x: tensor<2x64xf32>, %c: tensor<32x8xf32>, %s: tensor<32x8xf32>, %p: tensor<2xi32>) {
  %y = tgraph.rope %x, %c, %s at %p heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<2xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rms_of_an_infinite_eps"
// CHECK: | Operation does not verify: fused_row eps: expected a finite number of at least 0, got inf
func.func @rms_of_an_infinite_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 eps 0x7f800000 : tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_row_of_a_negative_number"
// CHECK: | Operation does not verify: tgraph.fused_row number: expected at least 0, got -1
func.func @fused_row_of_a_negative_number(%x: tensor<2x64xf32>) {
  %y = tgraph.fused_row rms %x cols 64 eps 1.0 number -1 : tensor<2x64xf32>
  func.return
}
