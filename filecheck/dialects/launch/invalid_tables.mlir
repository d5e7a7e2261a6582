// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "gather_of_transposed_rows"
// CHECK: | Operation does not verify: launch.gather table: expected rows that are not transposed, got !tgraph.rows<bf16, 16x64, transposed>
func.func @gather_of_transposed_rows(%table: !tgraph.rows<bf16, 16x64, transposed>, %index: memref<2xi32>, %out: memref<2x64xf32>) {
  launch.gather(table = %table : !tgraph.rows<bf16, 16x64, transposed>, index = %index : memref<2xi32>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gather_of_a_vector"
// CHECK: | Operation does not verify: launch.gather table: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @gather_of_a_vector(%table: memref<64xf32>, %index: memref<2xi32>, %out: memref<2x64xf32>) {
  launch.gather(table = %table : memref<64xf32>, index = %index : memref<2xi32>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gather_of_another_width"
// CHECK: | Operation does not verify: launch.gather out width: expected 64, got 32
func.func @gather_of_another_width(%table: !tgraph.rows<bf16, 16x64>, %index: memref<2xi32>, %out: memref<2x32xf32>) {
  launch.gather(table = %table : !tgraph.rows<bf16, 16x64>, index = %index : memref<2xi32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gather_by_fewer_indices"
// CHECK: | Operation does not verify: launch.gather index: expected memref<2xi32>, got memref<1xi32>
func.func @gather_by_fewer_indices(%table: !tgraph.rows<bf16, 16x64>, %index: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.gather(table = %table : !tgraph.rows<bf16, 16x64>, index = %index : memref<1xi32>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_a_vector"
// CHECK: | Operation does not verify: launch.set_row source: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @set_row_of_a_vector(%source: memref<64xf32>, %out: memref<8x64xf32>, %at: memref<1xi32>) {
  launch.set_row(source = %source : memref<64xf32>, out = %out : memref<8x64xf32>, at = %at : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_at_two_indices"
// CHECK: | Operation does not verify: launch.set_row at: expected memref<1xi32>, got memref<2xi32>
func.func @set_row_at_two_indices(%source: memref<2x64xf32>, %out: memref<8x64xf32>, %at: memref<2xi32>) {
  launch.set_row(source = %source : memref<2x64xf32>, out = %out : memref<8x64xf32>, at = %at : memref<2xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_nowhere"
// CHECK: | Operation does not verify: launch.set_row: expected at or row, got neither
func.func @set_row_nowhere(%source: memref<2x64xf32>, %out: memref<8x64xf32>) {
  launch.set_row(source = %source : memref<2x64xf32>, out = %out : memref<8x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_another_width"
// CHECK: | Operation does not verify: launch.set_row out: table width against the result's: expected 32, got 64
func.func @set_row_of_another_width(%source: memref<2x32xf32>, %out: memref<8x64xf32>, %at: memref<1xi32>) {
  launch.set_row(source = %source : memref<2x32xf32>, out = %out : memref<8x64xf32>, at = %at : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_past_the_table"
// CHECK: | Operation does not verify: launch.set_row row: expected 0 to 6, got 7
func.func @set_row_past_the_table(%source: memref<2x64xf32>, %out: memref<8x64xf32>) {
  launch.set_row(source = %source : memref<2x64xf32>, out = %out : memref<8x64xf32>) {row = 7 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_of_every_nothing"
// CHECK: | Operation does not verify: launch.slice: expected a range inside every 0 of 64 values, got [16, 32)
func.func @slice_of_every_nothing(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {start = 16 : i64, width = 16 : i64, every = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_that_does_not_divide"
// CHECK: | Operation does not verify: launch.slice: expected a range inside every 48 of 64 values, got [16, 32)
func.func @slice_that_does_not_divide(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {start = 16 : i64, width = 16 : i64, every = 48 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_of_nothing"
// CHECK: | Operation does not verify: launch.slice: expected a range inside every 32 of 64 values, got [16, 16)
func.func @slice_of_nothing(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {start = 16 : i64, width = 0 : i64, every = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_from_before"
// CHECK: | Operation does not verify: launch.slice: expected a range inside every 32 of 64 values, got [-1, 15)
func.func @slice_from_before(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {start = -1 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_past_the_end"
// CHECK: | Operation does not verify: launch.slice: expected a range inside every 32 of 64 values, got [17, 33)
func.func @slice_past_the_end(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {start = 17 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_out_of_another_shape"
// CHECK: | Operation does not verify: launch.slice out: expected (2, 32), got (2, 64)
func.func @slice_out_of_another_shape(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.slice(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {start = 16 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_a_vector"
// CHECK: | Operation does not verify: launch.arg_max x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @arg_max_of_a_vector(%x: memref<64xf32>, %out: memref<1xi32>) {
  launch.arg_max(x = %x : memref<64xf32>, out = %out : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_fewer_indices"
// CHECK: | Operation does not verify: launch.arg_max out: expected memref<2xi32>, got memref<1xi32>
func.func @arg_max_of_fewer_indices(%x: memref<2x64xf32>, %out: memref<1xi32>) {
  launch.arg_max(x = %x : memref<2x64xf32>, out = %out : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_a_token_alone"
// CHECK: | Operation does not verify: launch.arg_max: expected token and position together, got one without the other
func.func @arg_max_of_a_token_alone(%x: memref<1x64xf32>, %out: memref<1xi32>, %token: memref<1xi32>) {
  launch.arg_max(x = %x : memref<1x64xf32>, out = %out : memref<1xi32>, token = %token : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_more_rows_than_positions"
// CHECK: | Operation does not verify: launch.arg_max position: expected memref<2xi32>, got memref<1xi32>
func.func @arg_max_of_more_rows_than_positions(%x: memref<2x64xf32>, %out: memref<2xi32>, %token: memref<2xi32>, %position: memref<1xi32>) {
  launch.arg_max(x = %x : memref<2x64xf32>, out = %out : memref<2xi32>, token = %token : memref<2xi32>, position = %position : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_two_tokens"
// CHECK: | Operation does not verify: launch.arg_max token: expected memref<1xi32>, got memref<2xi32>
func.func @arg_max_of_two_tokens(%x: memref<1x64xf32>, %out: memref<1xi32>, %token: memref<2xi32>, %position: memref<1xi32>) {
  launch.arg_max(x = %x : memref<1x64xf32>, out = %out : memref<1xi32>, token = %token : memref<2xi32>, position = %position : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_two_positions"
// CHECK: | Operation does not verify: launch.arg_max position: expected memref<1xi32>, got memref<2xi32>
func.func @arg_max_of_two_positions(%x: memref<1x64xf32>, %out: memref<1xi32>, %token: memref<1xi32>, %position: memref<2xi32>) {
  launch.arg_max(x = %x : memref<1x64xf32>, out = %out : memref<1xi32>, token = %token : memref<1xi32>, position = %position : memref<2xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "advance_by_nothing"
// CHECK: | Operation does not verify: launch.advance by: expected at least 1, got 0
func.func @advance_by_nothing(%x: memref<1xi32>, %out: memref<1xi32>) {
  launch.advance(x = %x : memref<1xi32>, out = %out : memref<1xi32>) {by = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "advance_of_a_float"
// CHECK: | Operation does not verify: launch.advance x: expected a static memref<Nxi32>, got memref<1xf32>
func.func @advance_of_a_float(%x: memref<1xf32>, %out: memref<1xi32>) {
  launch.advance(x = %x : memref<1xf32>, out = %out : memref<1xi32>) {by = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "advance_of_two_positions_to_one"
// CHECK: | Operation does not verify: launch.advance out: expected memref<2xi32>, got memref<1xi32>
func.func @advance_of_two_positions_to_one(%x: memref<2xi32>, %out: memref<1xi32>) {
  launch.advance(x = %x : memref<2xi32>, out = %out : memref<1xi32>) {by = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "advance_to_two_positions"
// CHECK: | Operation does not verify: launch.advance out: expected memref<1xi32>, got memref<2xi32>
func.func @advance_to_two_positions(%x: memref<1xi32>, %out: memref<2xi32>) {
  launch.advance(x = %x : memref<1xi32>, out = %out : memref<2xi32>) {by = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gather_scaled_by_no_number"
// CHECK: | Operation does not verify: launch.gather scale: expected a finite number, got nan
func.func @gather_scaled_by_no_number(%table: !tgraph.rows<bf16, 16x64>, %index: memref<2xi32>, %out: memref<2x64xf32>) {
  launch.gather(table = %table : !tgraph.rows<bf16, 16x64>, index = %index : memref<2xi32>, out = %out : memref<2x64xf32>) {scale = 0x7fc00000 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "row_set_in_more_rows_than_an_index_names"
// CHECK: | Operation does not verify: launch.set_row out: expected at most 2147483647 rows and values a row, got memref<2147483649x64xf32>
func.func @row_set_in_more_rows_than_an_index_names(%r: memref<1x64xf32>, %t: memref<2147483649x64xf32>) {
  launch.set_row(source = %r : memref<1x64xf32>, out = %t : memref<2147483649x64xf32>) {row = 2147483648 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "a_row_of_f16_in_a_buffer_of_its_own"
// CHECK: | Operation does not verify: launch.rope out: expected a static memref<RxWxf32>, got memref<1x64xf16>
func.func @a_row_of_f16_in_a_buffer_of_its_own(%x: memref<1x64xf32>, %c: memref<32x8xf32>, %p: memref<1xi32>, %o: memref<1x64xf16>) {
  launch.rope(x = %x : memref<1x64xf32>, cos = %c : memref<32x8xf32>, sin = %c : memref<32x8xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf16>) {head_dim = 16 : i64, heads = 4 : i64, half = 8 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "a_product_into_a_table_of_f16"
// CHECK: | Operation does not verify: launch.gemv out: expected a static memref<RxWxf32>, got memref<32x64xf16>
func.func @a_product_into_a_table_of_f16(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %t: memref<32x64xf16>, %p: memref<1xi32>) {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %t : memref<32x64xf16>, at = %p : memref<1xi32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "a_slice_of_another_type"
// CHECK: | Operation does not verify: launch.slice out: its values against x's: expected f16, got f32
func.func @a_slice_of_another_type(%x: memref<1x64xf16>, %o: memref<1x32xf32>) {
  launch.slice(x = %x : memref<1x64xf16>, out = %o : memref<1x32xf32>) {start = 0 : i64, width = 32 : i64, every = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "attention_over_tables_of_two_types"
// CHECK: | Operation does not verify: launch.attention values of the keys' type: expected f32, got f16
func.func @attention_over_tables_of_two_types(%q: memref<1x64xf32>, %k: memref<32x64xf32>, %v: memref<32x64xf16>, %p: memref<1xi32>, %o: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<32x64xf32>, values = %v : memref<32x64xf16>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 4 : i64, kv_heads = 4 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "slice_of_integers"
// CHECK: | Operation does not verify: launch.slice x: expected a static memref<RxWxf32> or memref<RxWxf16>, got memref<2x64xi32>
func.func @slice_of_integers(%x: memref<2x64xi32>, %out: memref<2x32xi32>) {
  launch.slice(x = %x : memref<2x64xi32>, out = %out : memref<2x32xi32>) {start = 0 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  func.return
}
