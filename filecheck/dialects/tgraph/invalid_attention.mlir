// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "attention_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @attention_of_no_heads(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 0 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_no_key_heads"
// CHECK: | Operation does not verify: kv_heads: expected at least 1, got 0
func.func @attention_of_no_key_heads(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 0 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_empty_heads"
// CHECK: | Operation does not verify: head_dim: expected at least 1, got -16
func.func @attention_of_empty_heads(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim -16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_empty_values"
// CHECK: | Operation does not verify: value_dim: expected at least 1, got 0
func.func @attention_of_empty_values(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 0 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_an_empty_window"
// CHECK: | Operation does not verify: window: expected at least 1, got 0
func.func @attention_of_an_empty_window(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 window 0 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_in_chunks_of_no_window"
// CHECK: | Operation does not verify: attention chunked: expected a window beside it, got none
func.func @attention_in_chunks_of_no_window(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 chunked : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_a_vector"
// CHECK: | Operation does not verify: attention q: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @attention_of_a_vector(%q: tensor<64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_another_width"
// CHECK: | Operation does not verify: attention q width: 4 heads of 16: expected 64, got 32
func.func @attention_of_another_width(%q: tensor<2x32xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x32xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_integer_keys"
// CHECK: | Operation does not verify: attention keys: expected a static tensor<RxWxf32> or tensor<RxWxf16>, got tensor<32x32xi32>
func.func @attention_by_integer_keys(%q: tensor<2x64xf32>, %k: tensor<32x32xi32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xi32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_wide_keys"
// CHECK: | Operation does not verify: attention key width: 2 heads of 16: expected 32, got 64
func.func @attention_by_wide_keys(%q: tensor<2x64xf32>, %k: tensor<32x64xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x64xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_rows_of_values"
// CHECK: | Operation does not verify: attention values: expected a static tensor<RxWxf32> or tensor<RxWxf16>, got !tgraph.rows<f32, 32x32>
func.func @attention_by_rows_of_values(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: !tgraph.rows<f32, 32x32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, !tgraph.rows<f32, 32x32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_narrow_values"
// CHECK: | Operation does not verify: attention value width: 2 heads of 16: expected 32, got 16
func.func @attention_by_narrow_values(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x16xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x16xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_fewer_values"
// CHECK: | Operation does not verify: attention value rows against key rows: expected 32, got 16
func.func @attention_by_fewer_values(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<16x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<16x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_past_its_tables"
// CHECK: | Operation does not verify: attention tables: expected at least the step's 2 rows, got 1
func.func @attention_past_its_tables(%q: tensor<2x64xf32>, %k: tensor<1x32xf32>, %v: tensor<1x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<1x32xf32>, tensor<1x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_a_zero_softcap"
// CHECK: | Operation does not verify: attention softcap: expected a finite number of more than 0, got 0.0
func.func @attention_of_a_zero_softcap(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 softcap 0.0 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_a_nan_softcap"
// CHECK: | Operation does not verify: attention softcap: expected a finite number of more than 0, got nan
func.func @attention_of_a_nan_softcap(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 softcap 0x7fc00000 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_other_sinks"
// CHECK: | Operation does not verify: attention sinks: expected tensor<4xf32>, got tensor<2xf32>
func.func @attention_of_other_sinks(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>, %s: tensor<2xf32>) {
  %o = tgraph.attention %q, %k, %v at %p sinks %s : tensor<2xf32> heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_to_another_width"
// CHECK: | Operation does not verify: attention result: expected (2, 64), got (2, 32)
func.func @attention_to_another_width(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_at_an_i64"
// CHECK: | Expected attribute tensor<1xi32> but got tensor<1xi64>
func.func @attention_at_an_i64(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %p: tensor<1xi64>) {
  %o = "tgraph.attention"(%q, %k, %k, %p) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi64>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_by_an_i32_count"
// CHECK: | Operation does not verify: Expected attribute i64 but got i32
func.func @attention_by_an_i32_count(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>) {
  %o = "tgraph.attention"(%q, %k, %k) <{heads = 4 : i32, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_an_infinite_softcap"
// CHECK: | Operation does not verify: attention softcap: expected a finite number of more than 0, got inf
func.func @attention_of_an_infinite_softcap(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %k at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 softcap 0x7f800000 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_an_infinite_scale"
// CHECK: | Operation does not verify: attention scale: expected a finite number, got inf
func.func @attention_of_an_infinite_scale(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %k at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 scale 0x7f800000 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_a_nan_scale"
// CHECK: | Operation does not verify: attention scale: expected a finite number, got nan
func.func @attention_of_a_nan_scale(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %k at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 scale 0x7fc00000 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_tables_of_two_types"
// CHECK: | Operation does not verify: attention values of the keys' type: expected f32, got f16
func.func @attention_of_tables_of_two_types(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf16>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %v at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf16> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "attention_of_queries_of_f16"
// CHECK: | Operation does not verify: attention q: expected a static tensor<RxWxf32>, got tensor<2x64xf16>
func.func @attention_of_queries_of_f16(%q: tensor<2x64xf16>, %k: tensor<32x32xf16>, %p: tensor<1xi32>) {
  %o = tgraph.attention %q, %k, %k at %p heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf16>, tensor<32x32xf16>, tensor<32x32xf16> -> tensor<2x64xf32>
  func.return
}
