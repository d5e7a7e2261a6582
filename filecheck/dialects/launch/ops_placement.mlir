// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

// Parts read in place, results in units of wider rows, gates, sets that quantize.

// CHECK-LABEL: func.func @strided_norm(
// CHECK-NEXT: launch.norm(x = %x : memref<1x128xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32, x_pitch = 64 : i64, x_offset = 32 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @strided_norm(%x: memref<1x128xf32>, %y: memref<1x64xf32>) {
  launch.norm(x = %x : memref<1x128xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32, x_pitch = 64 : i64, x_offset = 32 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @norm_in_units_of_a_table(
// CHECK-NEXT: launch.norm(x = %x : memref<1x64xf32>, out = %y : memref<8x96xf32>, at = %p : memref<1xi32>) {cols = 64 : i64, eps = 1.000000e+00 : f32, unit_pitch = 96 : i64, unit_offset = 32 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @norm_in_units_of_a_table(%x: memref<1x64xf32>, %y: memref<8x96xf32>, %p: memref<1xi32>) {
  launch.norm(x = %x : memref<1x64xf32>, out = %y : memref<8x96xf32>, at = %p : memref<1xi32>) {cols = 64 : i64, eps = 1.000000e+00 : f32, unit_pitch = 96 : i64, unit_offset = 32 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @rope_of_parts_in_units(
// CHECK-NEXT: launch.rope(x = %x : memref<1x128xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<1x192xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, x_pitch = 64 : i64, x_offset = 0 : i64, unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @rope_of_parts_in_units(%x: memref<1x128xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %y: memref<1x192xf32>) {
  launch.rope(x = %x : memref<1x128xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<1x192xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, x_pitch = 64 : i64, x_offset = 0 : i64, unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @gemv_in_units(
// CHECK-NEXT: launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @gemv_in_units(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %y: memref<1x96xf32>) {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @gemv_f32_in_units(
// CHECK-NEXT: launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64, unit_offset = 0 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @gemv_f32_in_units(%x: memref<1x64xf32>, %w: memref<64x32xf32>, %y: memref<1x96xf32>) {
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %y : memref<1x96xf32>) {unit_pitch = 96 : i64, unit_offset = 0 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @moe_in_units(
// CHECK-NEXT: launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, unit_pitch = 128 : i64, unit_offset = 64 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @moe_in_units(%x: memref<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %g: !tgraph.rows<bf16, 128x64, transposed>, %d: !tgraph.rows<bf16, 256x32, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, unit_pitch = 128 : i64, unit_offset = 64 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @values_in_the_keys_rows(
// CHECK-NEXT: launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, v_pitch = 32 : i64, v_offset = 8 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @values_in_the_keys_rows(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x32xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, v_pitch = 32 : i64, v_offset = 8 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @gated_row_of_a_batch(
// CHECK-NEXT: launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>, gate_offset = 64 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @gated_row_of_a_batch(%q: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %g: memref<2x64xf32>, %y: memref<1x64xf32>) {
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32, gate_act = #launch<act sigmoid>, gate_offset = 64 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @set_row_quantized(
// CHECK-NEXT: launch.set_row(source = %x : memref<1x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 1 : i64} covers [0]
// CHECK-NEXT: func.return
func.func @set_row_quantized(%x: memref<1x64xf32>, %q: !tgraph.q8<2x64>) {
  launch.set_row(source = %x : memref<1x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 1 : i64} covers [0]
  func.return
}
