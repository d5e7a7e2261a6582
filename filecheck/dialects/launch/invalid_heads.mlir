// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "head_gemv_of_part_of_a_block"
// CHECK: | Operation does not verify: launch.head_gemv: expected heads of whole blocks of 32 values, got 4 of 16 to 64
func.func @head_gemv_of_part_of_a_block(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 16 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_by_values"
// CHECK: | Operation does not verify: launch.head_gemv w: expected !tgraph.rows, got memref<256x32xf32>
func.func @head_gemv_by_values(%x: memref<1x384xf32>, %w: memref<256x32xf32>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : memref<256x32xf32>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_of_other_rows"
// CHECK: | Operation does not verify: launch.head_gemv w: expected (256, 32), got (128, 32)
func.func @head_gemv_of_other_rows(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 128x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_of_other_heads"
// CHECK: | Operation does not verify: launch.head_gemv x heads: expected 4, got 8
func.func @head_gemv_of_other_heads(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 48 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_past_its_unit"
// CHECK: | Operation does not verify: launch.head_gemv x: expected 32 values inside every 96, got them from 65 on
func.func @head_gemv_past_its_unit(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 65 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_of_half_a_part"
// CHECK: | Operation does not verify: launch.head_gemv: expected x_pitch and x_offset together, got one without the other
func.func @head_gemv_of_half_a_part(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "head_gemv_of_quantized_parts"
// CHECK: | Operation does not verify: launch.head_gemv x: expected whole rows and a block format over a quantized x, got !tgraph.rows<q8_0, 256x32, transposed>
func.func @head_gemv_of_quantized_parts(%x: !tgraph.q8<1x128>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : !tgraph.q8<1x128>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "join_of_heads_that_do_not_divide"
// CHECK: | Operation does not verify: launch.join heads: expected to divide rows of 128 and 64 values, got 3
func.func @join_of_heads_that_do_not_divide(%a: memref<1x128xf32>, %b: memref<1x64xf32>, %y: memref<1x192xf32>) {
  launch.join(a = %a : memref<1x128xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x192xf32>) {heads = 3 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "join_of_other_rows"
// CHECK: | Operation does not verify: launch.join b rows: expected 1, got 2
func.func @join_of_other_rows(%a: memref<1x128xf32>, %b: memref<2x64xf32>, %y: memref<1x192xf32>) {
  launch.join(a = %a : memref<1x128xf32>, b = %b : memref<2x64xf32>, out = %y : memref<1x192xf32>) {heads = 4 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "join_to_another_width"
// CHECK: | Operation does not verify: launch.join out: expected (1, 192), got (1, 128)
func.func @join_to_another_width(%a: memref<1x128xf32>, %b: memref<1x64xf32>, %y: memref<1x128xf32>) {
  launch.join(a = %a : memref<1x128xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x128xf32>) {heads = 4 : i64} covers [7]
  func.return
}
