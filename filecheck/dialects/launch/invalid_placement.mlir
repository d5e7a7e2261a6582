// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "part_past_its_unit"
// CHECK: | Operation does not verify: launch.norm x: expected 32 values inside every 64, got them from 33 on
func.func @part_past_its_unit(%x: memref<1x128xf32>, %y: memref<1x64xf32>) {
  launch.norm(x = %x : memref<1x128xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32, x_pitch = 64 : i64, x_offset = 33 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "part_without_an_offset"
// CHECK: | Operation does not verify: launch.norm: expected x_pitch and x_offset together, got one without the other
func.func @part_without_an_offset(%x: memref<1x128xf32>, %y: memref<1x64xf32>) {
  launch.norm(x = %x : memref<1x128xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32, x_pitch = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "part_of_a_broken_unit"
// CHECK: | Operation does not verify: launch.norm x: expected whole units of 96 in a row, got 128 values
func.func @part_of_a_broken_unit(%x: memref<1x128xf32>, %y: memref<1x64xf32>) {
  launch.norm(x = %x : memref<1x128xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32, x_pitch = 96 : i64, x_offset = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "unit_without_an_offset"
// CHECK: | Operation does not verify: launch.gemv: expected unit_pitch and unit_offset together, got one without the other
func.func @unit_without_an_offset(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %y: memref<1x96xf32>) {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "unit_past_its_row"
// CHECK: | Operation does not verify: launch.gemv out: expected 32 values inside every 96, got them from 65 on
func.func @unit_past_its_row(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %y: memref<1x96xf32>) {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64, unit_offset = 65 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "unit_of_a_wider_row"
// CHECK: | Operation does not verify: launch.gemv_f32 out: expected (1, 96), got (1, 128)
func.func @unit_of_a_wider_row(%x: memref<1x64xf32>, %w: memref<64x32xf32>, %y: memref<1x128xf32>) {
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %y : memref<1x128xf32>) {unit_pitch = 96 : i64, unit_offset = 0 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "heads_other_than_its_parts"
// CHECK: | Operation does not verify: launch.rope x heads: expected 1, got 2
func.func @heads_other_than_its_parts(%x: memref<1x128xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %y: memref<1x192xf32>) {
  launch.rope(x = %x : memref<1x128xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<1x192xf32>) {heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64, x_pitch = 64 : i64, x_offset = 0 : i64, unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "values_without_an_offset"
// CHECK: | Operation does not verify: launch.attention: expected v_pitch and v_offset together, got one without the other
func.func @values_without_an_offset(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x32xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, v_pitch = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "values_past_their_key"
// CHECK: | Operation does not verify: launch.attention values: expected 16 values inside every 32, got them from 17 on
func.func @values_past_their_key(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x32xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, v_pitch = 32 : i64, v_offset = 17 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gate_without_an_activation"
// CHECK: | Operation does not verify: launch.attention: expected gate and gate_act together, got one without the other
func.func @gate_without_an_activation(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x64xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_offset = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gate_of_part_of_a_row"
// CHECK: | Operation does not verify: launch.attention gate_offset: expected the start of one of the rows 0 to 1 of 64 values, got 32
func.func @gate_of_part_of_a_row(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x64xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>, gate_offset = 32 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gate_past_its_rows"
// CHECK: | Operation does not verify: launch.attention gate_offset: expected the start of one of the rows 0 to 1 of 64 values, got 128
func.func @gate_past_its_rows(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x64xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>, gate_offset = 128 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gate_of_other_rows"
// CHECK: | Operation does not verify: launch.attention gate rows: expected 1, got 2
func.func @gate_of_other_rows(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x64xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "gate_of_another_width"
// CHECK: | Operation does not verify: launch.attention gate width: expected 64, got 32
func.func @gate_of_another_width(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x32xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x32xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>, gate_offset = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "offset_of_no_gate"
// CHECK: | Operation does not verify: launch.attention gate_offset: expected a gate beside it, got none
func.func @offset_of_no_gate(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_offset = 64 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_nothing"
// CHECK: | Operation does not verify: launch.set_row: expected out, quant or both, got neither
func.func @set_row_of_nothing(%x: memref<1x64xf32>) {
  launch.set_row(source = %x : memref<1x64xf32>) {row = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_past_its_rows"
// CHECK: | Operation does not verify: launch.set_row row: expected 0 to 1, got 2
func.func @set_row_past_its_rows(%x: memref<1x64xf32>, %q: !tgraph.q8<2x64>) {
  launch.set_row(source = %x : memref<1x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 2 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_another_width"
// CHECK: | Operation does not verify: launch.set_row quant: table width against the result's: expected 64, got 32
func.func @set_row_of_another_width(%x: memref<1x64xf32>, %q: !tgraph.q8<2x32>) {
  launch.set_row(source = %x : memref<1x64xf32>, quant = %q : !tgraph.q8<2x32>) {row = 1 : i64} covers [0]
  func.return
}
