// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "full_attention_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @full_attention_of_no_heads(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 0 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_no_key_heads"
// CHECK: | Operation does not verify: kv_heads: expected at least 1, got 0
func.func @full_attention_of_no_key_heads(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 0 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_heads_of_nothing"
// CHECK: | Operation does not verify: head_dim: expected at least 1, got 0
func.func @full_attention_of_heads_of_nothing(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_heads_that_do_not_group"
// CHECK: | Operation does not verify: tgraph.full_attention heads: expected a multiple of the 3 key heads, got 4
func.func @full_attention_of_heads_that_do_not_group(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 3 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_a_vector"
// CHECK: | Operation does not verify: tgraph.full_attention q: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @full_attention_of_a_vector(%q: tensor<64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 : (tensor<64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_a_wider_query"
// CHECK: | Operation does not verify: tgraph.full_attention q width: 4 heads of 16: expected 64, got 80
func.func @full_attention_of_a_wider_query(%q: tensor<8x80xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 : (tensor<8x80xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_over_keys_of_all_heads"
// CHECK: | Operation does not verify: tgraph.full_attention key width: 2 heads of 16: expected 32, got 64
func.func @full_attention_over_keys_of_all_heads(%q: tensor<8x64xf32>, %k: tensor<5x64xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x64xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_over_fewer_values"
// CHECK: | Operation does not verify: tgraph.full_attention values: expected (5, 32), got (4, 32)
func.func @full_attention_over_fewer_values(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<4x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<4x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_to_the_keys_rows"
// CHECK: | Operation does not verify: tgraph.full_attention result: expected (8, 64), got (5, 64)
func.func @full_attention_to_the_keys_rows(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @lut_attention_of_no_heads(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 0 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_no_key_heads"
// CHECK: | Operation does not verify: kv_heads: expected at least 1, got 0
func.func @lut_attention_of_no_key_heads(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 0 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_heads_of_nothing"
// CHECK: | Operation does not verify: head_dim: expected at least 1, got 0
func.func @lut_attention_of_heads_of_nothing(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 0 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_heads_that_do_not_group"
// CHECK: | Operation does not verify: tgraph.lut_attention heads: expected a multiple of the 3 key heads, got 4
func.func @lut_attention_of_heads_that_do_not_group(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 3 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_a_vector"
// CHECK: | Operation does not verify: tgraph.lut_attention q: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @lut_attention_of_a_vector(%q: tensor<64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_a_wider_query"
// CHECK: | Operation does not verify: tgraph.lut_attention q width: 4 heads of 16: expected 64, got 80
func.func @lut_attention_of_a_wider_query(%q: tensor<8x80xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x80xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_over_keys_of_all_heads"
// CHECK: | Operation does not verify: tgraph.lut_attention key width: 2 heads of 16: expected 32, got 64
func.func @lut_attention_over_keys_of_all_heads(%q: tensor<8x64xf32>, %k: tensor<5x64xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x64xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_over_fewer_values"
// CHECK: | Operation does not verify: tgraph.lut_attention values: expected (5, 32), got (4, 32)
func.func @lut_attention_over_fewer_values(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<4x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<4x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_to_the_keys_rows"
// CHECK: | Operation does not verify: tgraph.lut_attention result: expected (8, 64), got (5, 64)
func.func @lut_attention_to_the_keys_rows(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<5x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_an_infinite_scale"
// CHECK: | Operation does not verify: full_attention scale: expected a finite number, got -inf
func.func @full_attention_of_an_infinite_scale(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 scale 0xff800000 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "full_attention_of_a_nan_scale"
// CHECK: | Operation does not verify: full_attention scale: expected a finite number, got nan
func.func @full_attention_of_a_nan_scale(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>) {
  %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 scale 0x7fc00000 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_no_step"
// CHECK: | Operation does not verify: lut_attention step: expected a finite number of more than 0, got 0.0
func.func @lut_attention_of_no_step(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 0.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_of_an_infinite_step"
// CHECK: | Operation does not verify: lut_attention step: expected a finite number of more than 0, got inf
func.func @lut_attention_of_an_infinite_step(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 0x7f800000 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_by_a_row"
// CHECK: | Operation does not verify: lut_attention table: expected tensor<Nxf32>, got tensor<1x16xf32>
func.func @lut_attention_by_a_row(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<1x16xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<1x16xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_by_integers"
// CHECK: | Operation does not verify: lut_attention table: expected tensor<Nxf32>, got tensor<16xi32>
func.func @lut_attention_by_integers(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<16xi32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "lut_attention_by_an_empty_table"
// CHECK: | Operation does not verify: lut_attention table: expected tensor<Nxf32>, got tensor<0xf32>
func.func @lut_attention_by_an_empty_table(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %v: tensor<5x32xf32>, %t: tensor<0xf32>) {
  %o = tgraph.lut_attention %q, %k, %v, %t heads 4 kv_heads 2 head_dim 16 step 1.0 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<0xf32>) -> tensor<8x64xf32>
  func.return
}
