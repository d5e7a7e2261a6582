// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "one_member"
// CHECK: | Operation does not verify: launch.sequences: expected at least 2 inside, got 1
func.func @one_member(%a: memref<1x64xf32>, %t: memref<8x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "a_kind_that_runs_alone"
// CHECK: | Operation does not verify: launch.sequences: expected launch.attention or launch.set_row or launch.rope or launch.rope_parts or launch.conv or launch.conv_parts or launch.delta inside, got launch.unary
func.func @a_kind_that_runs_alone(%a: memref<1x64xf32>, %b: memref<1x64xf32>, %c: memref<1x64xf32>) {
  launch.sequences() {
    launch.unary(x = %a : memref<1x64xf32>, out = %b : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
    launch.unary(x = %a : memref<1x64xf32>, out = %c : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "two_kinds"
// CHECK: | Operation does not verify: launch.sequences: expected members of one kind, launch.set_row, got launch.attention
func.func @two_kinds(%a: memref<1x64xf32>, %t: memref<8x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
    launch.attention(q = %a : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "other_fields"
// CHECK: | Operation does not verify: launch.sequences: expected members of the fields {{.*}}scale = 1.000000e+00{{.*}}, got {{.*}}scale = 2.000000e+00
func.func @other_fields(%a: memref<1x64xf32>, %k: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() {
    launch.attention(q = %a : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [0]
    launch.attention(q = %a : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %z : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 2.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "other_sizes"
// CHECK: | Operation does not verify: launch.sequences: expected members of the operands {{.*}}memref<8x64xf32>{{.*}}, got {{.*}}memref<9x64xf32>
func.func @other_sizes(%a: memref<1x64xf32>, %t: memref<8x64xf32>, %u: memref<9x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
    launch.set_row(source = %a : memref<1x64xf32>, out = %u : memref<9x64xf32>) {row = 1 : i64} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "the_same_rows"
// CHECK: | Operation does not verify: launch.sequences: expected members that write apart, got two over the same rows
func.func @the_same_rows(%a: memref<2x64xf32>, %b: memref<2x64xf32>, %t: memref<8x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<2x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
    launch.set_row(source = %b : memref<2x64xf32>, out = %t : memref<8x64xf32>) {row = 1 : i64} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "rows_that_only_the_device_knows"
// CHECK: | Operation does not verify: launch.sequences: expected members that write apart, got two over the same rows
func.func @rows_that_only_the_device_knows(%a: memref<1x64xf32>, %b: memref<1x64xf32>, %t: memref<8x64xf32>, %p: memref<1xi32>, %q: memref<1xi32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %q : memref<1xi32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "one_reads_what_another_writes"
// CHECK: | Operation does not verify: launch.sequences: expected to write other buffers than members read, got one as both
func.func @one_reads_what_another_writes(%a: memref<1x64xf32>, %t: memref<1x64xf32>, %u: memref<1x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<1x64xf32>) {row = 0 : i64} covers [0]
    launch.set_row(source = %t : memref<1x64xf32>, out = %u : memref<1x64xf32>) {row = 0 : i64} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "one_reads_what_another_moves_on"
// CHECK: | Operation does not verify: launch.sequences: expected to write other buffers than members read, got one as both
func.func @one_reads_what_another_moves_on(%a: memref<1x64xf32>, %w: memref<64x2xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() {
    launch.conv(x = %a : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %r : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [0]
    launch.conv(x = %r : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %s : memref<1x64xf32>, out = %z : memref<1x64xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "one_state"
// CHECK: | Operation does not verify: launch.sequences: expected members that write apart, got two over the same rows
func.func @one_state(%a: memref<1x64xf32>, %b: memref<1x64xf32>, %w: memref<64x2xf32>, %r: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() {
    launch.conv(x = %a : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %r : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [0]
    launch.conv(x = %b : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %r : memref<1x64xf32>, out = %z : memref<1x64xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "other_fields_of_a_part"
// CHECK: | Operation does not verify: launch.sequences: expected members of the fields {{.*}}heads = 2{{.*}}, got {{.*}}heads = 1
func.func @other_fields_of_a_part(%a: memref<1x64xf32>, %b: memref<1x32xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>, %z: memref<1x32xf32>) {
  launch.sequences() {
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %a : memref<1x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64} covers [0]
    }
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %b : memref<1x32xf32>, out = %z : memref<1x32xf32>) {heads = 1 : i64} covers [1]
    }
  }
  func.return
}
