// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// A table of f16 takes two bytes a value, and so do the rows that a launch sets and reads.

// CHECK: driver.state "table" rows 256 bytes 32768
// CHECK: driver.launch @tables::@set_rows_f16(%a, 64 : i32, %table, 64 : i32, %position, 64 : i32) grid (1, 1, 1) block (256, 1, 1) covers [0] {label = "set_row"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %table: memref<256x64xf16> {tgraph.state = "table"}) attributes {launch.lifted = 1 : i64} {
  launch.set_row(source = %a : memref<1x64xf32>, out = %table : memref<256x64xf16>, at = %position : memref<1xi32>) covers [0]
  func.return
}

// -----

// A fixed row begins at its bytes.

// CHECK: driver.launch @tables::@set_rows_f16(%a, 64 : i32, %table + 640, 64 : i32, null, 64 : i32)
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %table: memref<256x64xf16> {tgraph.state = "table"}) attributes {launch.lifted = 1 : i64} {
  launch.set_row(source = %a : memref<1x64xf32>, out = %table : memref<256x64xf16>) {row = 5 : i64} covers [0]
  func.return
}

// -----

// Values in the rows of keys begin at theirs.

// CHECK: driver.launch @attention_64_f16::@attention_64_f16_q4(%q, {{.*}}, %table, 48 : i32, %table + 32, 48 : i32, 48 : i32, %position
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x192xf32> {tgraph.state = "q"},
  %table: memref<256x48xf16> {tgraph.state = "table"},
  %o: memref<1x128xf32> {tgraph.state = "o"}) attributes {launch.lifted = 1 : i64} {
  launch.attention(q = %q : memref<1x192xf32>, keys = %table : memref<256x48xf16>, values = %table : memref<256x48xf16>, position = %position : memref<1xi32>, out = %o : memref<1x128xf32>)
    {heads = 4 : i64, kv_heads = 1 : i64, head_dim = 48 : i64, value_dim = 32 : i64, scale = 0.25 : f32, v_pitch = 48 : i64, v_offset = 16 : i64, block_heads = 4 : i64} covers [0]
  func.return
}
