// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "gemv_of_a_vector"
// CHECK: | Operation does not verify: launch.gemv x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @gemv_of_a_vector(%x: memref<64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_by_rows_that_are_not_outputs"
// CHECK: | Operation does not verify: launch.gemv w: expected transposed !tgraph.rows, got !tgraph.rows<bf16, 64x32>
func.func @gemv_by_rows_that_are_not_outputs(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 64x32>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 64x32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_by_values"
// CHECK: | Operation does not verify: launch.gemv w: expected transposed !tgraph.rows, got memref<64x32xf32>
func.func @gemv_by_values(%x: memref<2x64xf32>, %w: memref<64x32xf32>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : memref<64x32xf32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_of_another_width"
// CHECK: | Operation does not verify: launch.gemv w: inputs: expected 64, got 32
func.func @gemv_of_another_width(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x32, transposed>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_of_quantized_rows_by_plain_ones"
// CHECK: | Operation does not verify: launch.gemv w: expected rows of a block format beside a quantized x, got !tgraph.rows<bf16, 32x64, transposed>
func.func @gemv_of_quantized_rows_by_plain_ones(%x: !tgraph.q8<2x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv(x = %x : !tgraph.q8<2x64>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_bias_of_another_length"
// CHECK: | Operation does not verify: launch.gemv bias: expected memref<32xf32>, got memref<64xf32>
func.func @gemv_bias_of_another_length(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>, %bias: memref<64xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>, bias = %bias : memref<64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_at_two_indices"
// CHECK: | Operation does not verify: launch.gemv at: expected memref<1xi32>, got memref<2xi32>
func.func @gemv_at_two_indices(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<8x32xf32>, %at: memref<2xi32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<8x32xf32>, at = %at : memref<2xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_without_a_result"
// CHECK: | Operation does not verify: launch.gemv: expected out, quant or both, got neither
func.func @gemv_without_a_result(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_quant_that_is_f32"
// CHECK: | Operation does not verify: launch.gemv quant: expected !tgraph.q8, got memref<2x32xf32>
func.func @gemv_quant_that_is_f32(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>, %quant: memref<2x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>, quant = %quant : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_quant_of_another_shape"
// CHECK: | Operation does not verify: launch.gemv quant: expected (2, 32), got (1, 32)
func.func @gemv_quant_of_another_shape(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>, %quant: !tgraph.q8<1x32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>, quant = %quant : !tgraph.q8<1x32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_out_of_another_shape"
// CHECK: | Operation does not verify: launch.gemv out: expected (2, 32), got (2, 64)
func.func @gemv_out_of_another_shape(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x64xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_at_an_index_and_a_row"
// CHECK: | Operation does not verify: launch.gemv: expected either at or row, got both
func.func @gemv_at_an_index_and_a_row(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<8x32xf32>, %at: memref<1xi32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<8x32xf32>, at = %at : memref<1xi32>) {row = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_row_without_a_table"
// CHECK: | Operation does not verify: launch.gemv: expected out beside a row to write it at, got none
func.func @gemv_row_without_a_table(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %quant: !tgraph.q8<2x32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, quant = %quant : !tgraph.q8<2x32>) {row = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_into_a_table_of_another_width"
// CHECK: | Operation does not verify: launch.gemv out: table width against the result's: expected 32, got 64
func.func @gemv_into_a_table_of_another_width(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<8x64xf32>, %at: memref<1xi32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<8x64xf32>, at = %at : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_into_a_table_of_fewer_rows"
// CHECK: | Operation does not verify: launch.gemv out: expected a table of at least 2 rows, got 1
func.func @gemv_into_a_table_of_fewer_rows(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<1x32xf32>, %at: memref<1xi32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<1x32xf32>, at = %at : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_past_the_table"
// CHECK: | Operation does not verify: launch.gemv row: expected 0 to 6, got 7
func.func @gemv_past_the_table(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<8x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<8x32xf32>) {row = 7 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_before_the_table"
// CHECK: | Operation does not verify: launch.gemv row: expected 0 to 6, got -1
func.func @gemv_before_the_table(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<8x32xf32>) {
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<8x32xf32>) {row = -1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_of_quantized_rows"
// CHECK: | Operation does not verify: launch.gemv_f32 x: expected a static memref<RxWxf32>, got !tgraph.q8<2x64>
func.func @gemv_f32_of_quantized_rows(%x: !tgraph.q8<2x64>, %w: memref<64x32xf32>, %out: memref<2x32xf32>) {
  launch.gemv_f32(x = %x : !tgraph.q8<2x64>, w = %w : memref<64x32xf32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_by_checkpoint_rows"
// CHECK: | Operation does not verify: launch.gemv_f32 w: expected a static memref<RxWxf32>, got !tgraph.rows<bf16, 32x64, transposed>
func.func @gemv_f32_by_checkpoint_rows(%x: memref<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_of_another_width"
// CHECK: | Operation does not verify: launch.gemv_f32 w: inputs: expected 64, got 32
func.func @gemv_f32_of_another_width(%x: memref<2x64xf32>, %w: memref<32x32xf32>, %out: memref<2x32xf32>) {
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : memref<32x32xf32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_bias_of_another_length"
// CHECK: | Operation does not verify: launch.gemv_f32 bias: expected memref<32xf32>, got memref<1x64xf32>
func.func @gemv_f32_bias_of_another_length(%x: memref<2x64xf32>, %w: memref<64x32xf32>, %out: memref<2x32xf32>, %bias: memref<1x64xf32>) {
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : memref<64x32xf32>, out = %out : memref<2x32xf32>, bias = %bias : memref<1x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_at_an_f32"
// CHECK: | Operation does not verify: launch.gemv_f32 at: expected memref<1xi32>, got memref<1xf32>
func.func @gemv_f32_at_an_f32(%x: memref<2x64xf32>, %w: memref<64x32xf32>, %out: memref<2x32xf32>, %at: memref<1xf32>) {
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : memref<64x32xf32>, out = %out : memref<2x32xf32>, at = %at : memref<1xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_f32_out_of_another_shape"
// CHECK: | Operation does not verify: launch.gemv_f32 out: expected (2, 32), got (1, 32)
func.func @gemv_f32_out_of_another_shape(%x: memref<2x64xf32>, %w: memref<64x32xf32>, %out: memref<1x32xf32>) {
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : memref<64x32xf32>, out = %out : memref<1x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_alone"
// CHECK: | Operation does not verify: 'launch.gemm_part' expects parent op 'launch.gemm_parts'
func.func @gemm_part_alone(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_of_one"
// CHECK: | Operation does not verify: launch.gemm_parts: expected at least 2 inside, got 1
func.func @gemm_parts_of_one(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_of_none"
// CHECK: | Operation does not verify: Region 'body' at position 0 expected a single block, but got 0 blocks
func.func @gemm_parts_of_none(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_of_others"
// CHECK: | Operation does not verify: launch.gemm_parts: expected launch.gemm_part inside, got launch.gemv
func.func @gemm_parts_of_others(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_with_block_arguments"
// CHECK: | Operation does not verify: launch.gemm_parts: expected no block arguments inside, got 1
func.func @gemm_parts_with_block_arguments(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  ^bb0(%u : memref<1x64xf32>):
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_of_a_vector"
// CHECK: | Operation does not verify: launch.gemm_parts x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @gemm_parts_of_a_vector(%x: memref<64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_of_another_width"
// CHECK: | Operation does not verify: launch.gemm_part w: inputs: expected 64, got 32
func.func @gemm_part_of_another_width(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %n : !tgraph.rows<bf16, 32x32, transposed>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_by_plain_rows_of_quantized_ones"
// CHECK: | Operation does not verify: launch.gemm_part w: expected rows of a block format beside a quantized x, got !tgraph.rows<bf16, 32x64, transposed>
func.func @gemm_part_by_plain_rows_of_quantized_ones(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %q : !tgraph.q8<1x64>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_parts_of_two_formats"
// CHECK: | Operation does not verify: launch.gemm_parts: expected rows of one format, got bf16, q8_0
func.func @gemm_parts_of_two_formats(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %v : !tgraph.rows<q8_0, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_bias_of_another_length"
// CHECK: | Operation does not verify: launch.gemm_part bias: expected memref<32xf32>, got memref<64xf32>
func.func @gemm_part_bias_of_another_length(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, bias = %b : memref<64xf32>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_at_two_indices"
// CHECK: | Operation does not verify: launch.gemm_part at: expected memref<1xi32>, got memref<2xi32>
func.func @gemm_part_at_two_indices(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, at = %p : memref<2xi32>, out = %z : memref<1x32xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemm_part_out_of_another_shape"
// CHECK: | Operation does not verify: launch.gemm_part out: expected (1, 32), got (8, 64)
func.func @gemm_part_out_of_another_shape(%x: memref<1x64xf32>, %q: !tgraph.q8<1x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %n: !tgraph.rows<bf16, 32x32, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<2xi32>) {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [0]
  launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %t : memref<8x64xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_of_a_vector"
// CHECK: | Operation does not verify: launch.gemv_glu x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @gemv_glu_of_a_vector(%x: memref<64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : memref<64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_of_another_width"
// CHECK: | Operation does not verify: launch.gemv_glu wg: inputs: expected 64, got 32
func.func @gemv_glu_of_another_width(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x32, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x32, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_of_two_formats"
// CHECK: | Operation does not verify: launch.gemv_glu wu: its type against the gate's: expected !tgraph.rows<bf16, 32x64, transposed>, got !tgraph.rows<f16, 32x64, transposed>
func.func @gemv_glu_of_two_formats(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<f16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<f16, 32x64, transposed>, out = %out : memref<2x32xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_of_quantized_rows_by_plain_ones"
// CHECK: | Operation does not verify: launch.gemv_glu wg: expected rows of a block format beside a quantized x, got !tgraph.rows<bf16, 32x64, transposed>
func.func @gemv_glu_of_quantized_rows_by_plain_ones(%x: !tgraph.q8<2x64>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : !tgraph.q8<2x64>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_gate_bias"
// CHECK: | Operation does not verify: launch.gemv_glu bg: expected memref<32xf32>, got memref<31xf32>
func.func @gemv_glu_gate_bias(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>, %bg: memref<31xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>, bg = %bg : memref<31xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_up_bias"
// CHECK: | Operation does not verify: launch.gemv_glu bu: expected memref<32xf32>, got memref<33xf32>
func.func @gemv_glu_up_bias(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>, %bu: memref<33xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>, bu = %bu : memref<33xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_without_a_result"
// CHECK: | Operation does not verify: launch.gemv_glu: expected out, quant or both, got neither
func.func @gemv_glu_without_a_result(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_out_of_another_shape"
// CHECK: | Operation does not verify: launch.gemv_glu out: expected (2, 32), got (2, 64)
func.func @gemv_glu_out_of_another_shape(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x64xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gemv_glu_without_an_activation"
// CHECK: | Operation does not verify: property 'act' expected in operation 'launch.gemv_glu'
func.func @gemv_glu_without_an_activation(%x: memref<2x64xf32>, %wg: !tgraph.rows<bf16, 32x64, transposed>, %wu: !tgraph.rows<bf16, 32x64, transposed>, %out: memref<2x32xf32>) {
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %wg : !tgraph.rows<bf16, 32x64, transposed>, wu = %wu : !tgraph.rows<bf16, 32x64, transposed>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}
