// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "gemv_of_three_rows_a_warp"
// CHECK: | Operation does not verify: launch.gemv per_warp: expected one of 2, 4, got 3
func.func @gemv_of_three_rows_a_warp(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) {per_warp = 3 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "parts_of_no_rows_a_warp"
// CHECK: | Operation does not verify: launch.gemm_parts per_warp: expected one of 2, 4, got 0
func.func @parts_of_no_rows_a_warp(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %a: memref<2x32xf32>, %b: memref<2x32xf32>) {
  launch.gemm_parts(x = %x : memref<2x64xf32>) attributes {per_warp = 0 : i64} {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %a : memref<2x32xf32>) covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %b : memref<2x32xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "pair_of_four_rows_a_warp"
// CHECK: | Operation does not verify: launch.gemv_glu per_warp: expected one of 1, 2, got 4
func.func @pair_of_four_rows_a_warp(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %w : !tgraph.rows<bf16, 32x64, transposed>, wu = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) {act = #launch<act silu>, per_warp = 4 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "dependent_part"
// CHECK: | Operation does not verify: launch.gemm_part: expected dependent on the whole of launch.gemm_parts, got it on a part
func.func @dependent_part(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %a: memref<2x32xf32>, %b: memref<2x32xf32>) {
  launch.gemm_parts(x = %x : memref<2x64xf32>) {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %a : memref<2x32xf32>) {dependent} covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %b : memref<2x32xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "attention_of_heads_that_do_not_divide"
// CHECK: | Operation does not verify: launch.attention block_heads: expected a divisor of 4 heads a key head, got 3
func.func @attention_of_heads_that_do_not_divide(%q: memref<1x128xf32>, %k: memref<64x32xf32>, %p: memref<1xi32>) {
  launch.attention(q = %q : memref<1x128xf32>, keys = %k : memref<64x32xf32>, values = %k : memref<64x32xf32>, position = %p : memref<1xi32>, out = %q : memref<1x128xf32>)
    {heads = 4 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32, block_heads = 3 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "attention_without_splits"
// CHECK: | Operation does not verify: launch.attention splits: expected at least 1, got 0
func.func @attention_without_splits(%q: memref<1x128xf32>, %k: memref<64x32xf32>, %p: memref<1xi32>) {
  launch.attention(q = %q : memref<1x128xf32>, keys = %k : memref<64x32xf32>, values = %k : memref<64x32xf32>, position = %p : memref<1xi32>, out = %q : memref<1x128xf32>)
    {heads = 4 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32, splits = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tail_without_a_split"
// CHECK: | Operation does not verify: launch.gemv: expected tail_from and tail_split together, got one without the other
func.func @tail_without_a_split(%x: memref<16x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<16x32xf32>) {
  launch.gemv(x = %x : memref<16x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<16x32xf32>) {tail_from = 3 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tail_before_the_first_tile"
// CHECK: | Operation does not verify: launch.gemv tail_from: expected at least 0, got -1
func.func @tail_before_the_first_tile(%x: memref<16x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<16x32xf32>) {
  launch.gemv(x = %x : memref<16x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<16x32xf32>) {tail_from = -1 : i64, tail_split = 2 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tail_of_one_block"
// CHECK: | Operation does not verify: launch.gemv tail_split: expected at least 2 blocks a tile, got 1
func.func @tail_of_one_block(%x: memref<16x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<16x32xf32>) {
  launch.gemv(x = %x : memref<16x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<16x32xf32>) {tail_from = 0 : i64, tail_split = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tail_of_a_pair"
// CHECK: | Operation does not verify: launch.gemv_glu tail_split: expected at least 2 blocks a tile, got 0
func.func @tail_of_a_pair(%x: memref<16x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<16x32xf32>) {
  launch.gemv_glu(x = %x : memref<16x64xf32>, wg = %w : !tgraph.rows<bf16, 32x64, transposed>, wu = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<16x32xf32>) {act = #launch<act silu>, tail_from = 0 : i64, tail_split = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tail_of_parts"
// CHECK: | Operation does not verify: launch.gemm_parts: expected tail_from and tail_split together, got one without the other
func.func @tail_of_parts(%x: memref<16x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %a: memref<16x32xf32>, %b: memref<16x32xf32>) {
  launch.gemm_parts(x = %x : memref<16x64xf32>) attributes {tail_split = 2 : i64} {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %a : memref<16x32xf32>) covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %b : memref<16x32xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "no_split"
// CHECK: | Operation does not verify: launch.gemv_f32 splits: expected 1 to 32, got 0
func.func @no_split(%x: memref<1x64xf32>, %w: memref<64x32xf32>, %out: memref<1x32xf32>) {
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %out : memref<1x32xf32>) {splits = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "too_many_splits"
// CHECK: | Operation does not verify: launch.gate_proj splits: expected 1 to 32, got 33
func.func @too_many_splits(%x: memref<1x64xf32>, %w: memref<64x32xf32>, %c: memref<32xf32>, %b: memref<1x32xf32>, %d: memref<1x32xf32>) {
  launch.gate_proj(x = %x : memref<1x64xf32>, wb = %w : memref<64x32xf32>, wa = %w : memref<64x32xf32>, dt_bias = %c : memref<32xf32>, a_log = %c : memref<32xf32>,
    beta = %b : memref<1x32xf32>, decay = %d : memref<1x32xf32>) {splits = 33 : i64} covers [0]
  func.return
}
