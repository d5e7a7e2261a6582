// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "keys_of_no_rows"
// CHECK: | Operation does not verify: launch.latent_keys: expected heads, latent and width of at least 1, latent values inside rows of 96 and 1 to 256 rows, got 4, 32, 64 and 0
func.func @keys_of_no_rows(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 256x32>, %p: memref<1xi32>, %k: memref<256x256xf32>) {
  launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32>, position = %p : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 0 : i64} covers [5]
  func.return
}

// -----

// CHECK: sym_name = "keys_of_rows_the_other_way"
// CHECK: | Operation does not verify: launch.latent_keys w: expected (128, 64), got (256, 32)
func.func @keys_of_rows_the_other_way(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %p: memref<1xi32>, %k: memref<256x256xf32>) {
  launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, position = %p : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
  func.return
}

// -----

// CHECK: sym_name = "keys_past_their_row"
// CHECK: | Operation does not verify: launch.latent_keys: expected heads, latent and width of at least 1, latent values inside rows of 96 and 1 to 256 rows, got 4, 97, 64 and 128
func.func @keys_past_their_row(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 256x32>, %p: memref<1xi32>, %k: memref<256x256xf32>) {
  launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32>, position = %p : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 97 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
  func.return
}

// -----

// CHECK: sym_name = "keys_by_values"
// CHECK: | Operation does not verify: launch.latent_keys w: expected !tgraph.rows, got memref<256x32xf32>
func.func @keys_by_values(%t: memref<256x96xf32>, %w: memref<256x32xf32>, %p: memref<1xi32>, %k: memref<256x256xf32>) {
  launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : memref<256x32xf32>, position = %p : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
  func.return
}

// -----

// CHECK: sym_name = "values_of_another_width"
// CHECK: | Operation does not verify: launch.latent_values w: expected (256, 32), got (128, 32)
func.func @values_of_another_width(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 128x32, transposed>, %p: memref<1xi32>, %v: memref<256x128xf32>) {
  launch.latent_values(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>, position = %p : memref<1xi32>, out = %v : memref<256x128xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [8]
  func.return
}

// -----

// CHECK: sym_name = "values_to_other_rows"
// CHECK: | Operation does not verify: launch.latent_values out: expected (256, 128), got (128, 128)
func.func @values_to_other_rows(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 128x32, transposed>, %p: memref<1xi32>, %v: memref<128x128xf32>) {
  launch.latent_values(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>, position = %p : memref<1xi32>, out = %v : memref<128x128xf32>) {heads = 4 : i64, latent = 32 : i64, width = 32 : i64, rows = 128 : i64} covers [8]
  func.return
}

// -----

// CHECK: sym_name = "query_past_its_head"
// CHECK: | Operation does not verify: launch.latent_attend: expected sizes of at least 1 and 64 values inside every 96, got 4 heads of 64 + 32 over 32, values of 32, from 64
func.func @query_past_its_head(%q: memref<128x384xf32>, %r: memref<128x128xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x64xf32>, %p: memref<1xi32>, %o: memref<128x128xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 64 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}

// -----

// CHECK: sym_name = "query_of_another_width"
// CHECK: | Operation does not verify: launch.latent_attend q width: expected 256, got 384
func.func @query_of_another_width(%q: memref<128x384xf32>, %r: memref<128x128xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x64xf32>, %p: memref<1xi32>, %o: memref<128x128xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 64 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}

// -----

// CHECK: sym_name = "rotated_query_of_another_width"
// CHECK: | Operation does not verify: launch.latent_attend q_rope: expected (128, 128), got (128, 64)
func.func @rotated_query_of_another_width(%q: memref<128x384xf32>, %r: memref<128x64xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x64xf32>, %p: memref<1xi32>, %o: memref<128x128xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x64xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}

// -----

// CHECK: sym_name = "table_of_another_width"
// CHECK: | Operation does not verify: launch.latent_attend table width: expected 64, got 96
func.func @table_of_another_width(%q: memref<128x384xf32>, %r: memref<128x128xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x96xf32>, %p: memref<1xi32>, %o: memref<128x128xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x96xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}

// -----

// CHECK: sym_name = "result_of_another_width"
// CHECK: | Operation does not verify: launch.latent_attend out: expected (128, 128), got (128, 64)
func.func @result_of_another_width(%q: memref<128x384xf32>, %r: memref<128x128xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x64xf32>, %p: memref<1xi32>, %o: memref<128x64xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x64xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}
