// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "heads_that_do_not_group"
// CHECK: | Operation does not verify: launch.attention: expected heads of at least 1 grouped evenly, got 4 over 3 of 32 and 16
func.func @heads_that_do_not_group(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 3 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "no_heads"
// CHECK: | Operation does not verify: launch.attention: expected heads of at least 1 grouped evenly, got 0 over 2 of 32 and 16
func.func @no_heads(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 0 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "no_window"
// CHECK: | Operation does not verify: launch.attention window: expected at least 1, got 0
func.func @no_window(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {window = 0 : i64, heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "queries_of_a_vector"
// CHECK: | Operation does not verify: launch.attention q: expected a static memref<RxWxf32>, got memref<128xf32>
func.func @queries_of_a_vector(%q: memref<128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "queries_of_another_width"
// CHECK: | Operation does not verify: launch.attention q width: 4 heads of 32: expected 128, got 64
func.func @queries_of_another_width(%q: memref<2x64xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x64xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "keys_of_another_width"
// CHECK: | Operation does not verify: launch.attention key width: expected 64, got 128
func.func @keys_of_another_width(%q: memref<2x128xf32>, %keys: memref<8x128xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x128xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "tables_of_fewer_rows"
// CHECK: | Operation does not verify: launch.attention tables: expected at least 2 rows, got 1
func.func @tables_of_fewer_rows(%q: memref<2x128xf32>, %keys: memref<1x64xf32>, %values: memref<1x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<1x64xf32>, values = %values : memref<1x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "values_of_another_shape"
// CHECK: | Operation does not verify: launch.attention values: expected (8, 32), got (4, 32)
func.func @values_of_another_shape(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<4x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<4x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "two_positions"
// CHECK: | Operation does not verify: launch.attention position: expected memref<1xi32>, got memref<2xi32>
func.func @two_positions(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<2xi32>, %out: memref<2x64xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<2xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "sinks_of_another_length"
// CHECK: | Operation does not verify: launch.attention sinks: expected memref<4xf32>, got memref<2xf32>
func.func @sinks_of_another_length(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>, %sinks: memref<2xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>, sinks = %sinks : memref<2xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "no_result"
// CHECK: | Operation does not verify: launch.attention: expected out, quant or both, got neither
func.func @no_result(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "out_of_another_shape"
// CHECK: | Operation does not verify: launch.attention out: expected (2, 64), got (2, 128)
func.func @out_of_another_shape(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x128xf32>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x128xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "quant_of_another_shape"
// CHECK: | Operation does not verify: launch.attention quant: expected (2, 64), got (2, 128)
func.func @quant_of_another_shape(%q: memref<2x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>, %quant: !tgraph.q8<2x128>) {
  launch.attention(q = %q : memref<2x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>, quant = %quant : !tgraph.q8<2x128>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "row_past_the_results"
// CHECK: | Operation does not verify: launch.attention row: expected 0 to 3, got 4
func.func @row_past_the_results(%q: memref<1x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %out: memref<4x64xf32>) {
  launch.attention(q = %q : memref<1x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, out = %out : memref<4x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, row = 4 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "row_of_quants_of_another_width"
// CHECK: | Operation does not verify: launch.attention quant: table width against the result's: expected 64, got 128
func.func @row_of_quants_of_another_width(%q: memref<1x128xf32>, %keys: memref<8x64xf32>, %values: memref<8x32xf32>, %position: memref<1xi32>, %quant: !tgraph.q8<4x128>) {
  launch.attention(q = %q : memref<1x128xf32>, keys = %keys : memref<8x64xf32>, values = %values : memref<8x32xf32>, position = %position : memref<1xi32>, quant = %quant : !tgraph.q8<4x128>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, row = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "scores_scaled_by_no_number"
// CHECK: | Operation does not verify: launch.attention scale: expected a finite number, got inf
func.func @scores_scaled_by_no_number(%q: memref<1x64xf32>, %k: memref<16x32xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<16x32xf32>, values = %k : memref<16x32xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0x7f800000 : f32} covers [0]
  func.return
}
