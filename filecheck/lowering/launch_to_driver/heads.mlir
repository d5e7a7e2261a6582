// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// rows_are_outputs
// CHECK: driver.launch @head_gemv_q8_0::@head_gemv_q8_0_f32_outputs(%x + 256, 384 : i32, 96 : i32, 0 : i32, %w, 32 : i32, 4 : i32, 32 : i32, 64 : i32, 2 : i32, 2 : i32, %y, 256 : i32, null, 64 : i32) grid (2, 1, 4) block (256, 1, 1) shared 128 covers [0] {label = "head_gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<2x384xf32> {tgraph.state = "x"},
  %y: memref<2x256xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x32, transposed>
  launch.head_gemv(x = %x : memref<2x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<2x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 64 : i64} covers [0]
  func.return
}

// -----

// rows_are_inputs_into_units_of_a_table
// CHECK: driver.launch @head_gemv_bf16::@head_gemv_bf16_inputs(%x, 128 : i32, 32 : i32, 0 : i32, %w, 128 : i32, 4 : i32, 32 : i32, 64 : i32, 1 : i32, 8 : i32, %t + 32, 288 : i32, %position, 72 : i32) grid (1, 1, 4) block (256, 1, 1) shared 8320 covers [0] {label = "head_gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x128xf32> {tgraph.state = "x"},
  %t: memref<64x288xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64>
  launch.head_gemv(x = %x : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 128x64>, out = %t : memref<64x288xf32>, at = %position : memref<1xi32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, unit_pitch = 72 : i64, unit_offset = 8 : i64} covers [0]
  func.return
}

// -----

// of_a_quantized_row
// CHECK: driver.launch @elementwise::@unary_rows(%x, {{.*}}%q{{.*}}) grid {{.*}} covers [0] {label = "quant"}
// CHECK: driver.launch @head_gemv_q4_0::@head_gemv_q4_0_q8_outputs(%q, 0 : i32, 0 : i32, 2 : i32, %w, 32 : i32, 4 : i32, 32 : i32, 64 : i32, 1 : i32, 1 : i32, %y, 256 : i32, null, 64 : i32) grid (1, 1, 4) block (256, 1, 1) shared 68 covers [1] {label = "head_gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x128xf32> {tgraph.state = "x"},
  %y: memref<1x256xf32> {tgraph.state = "y"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_0, 256x32, transposed>
  %q = launch.alloc : !tgraph.q8<1x128, two_plane>
  launch.quant(x = %x : memref<1x128xf32>, quant = %q : !tgraph.q8<1x128, two_plane>) covers [0]
  launch.head_gemv(x = %q : !tgraph.q8<1x128, two_plane>, w = %w : !tgraph.rows<q4_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64} covers [1]
  func.return
}

// -----

// joined
// CHECK: driver.launch @elementwise::@join_rows(%a, 32 : i32, 8 : i32, %b, 16 : i32, 4 : i32, %y, 48 : i32, null, 12 : i32, 4 : i32) grid (1, 3, 1) block (256, 1, 1) covers [0] {label = "join"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<3x32xf32> {tgraph.state = "a"},
  %b: memref<3x16xf32> {tgraph.state = "b"},
  %y: memref<3x48xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  launch.join(a = %a : memref<3x32xf32>, b = %b : memref<3x16xf32>, out = %y : memref<3x48xf32>) {heads = 4 : i64} covers [0]
  func.return
}

// -----

// joined_into_units_of_a_table
// CHECK: driver.launch @elementwise::@join_rows(%a, 32 : i32, 8 : i32, %b, 16 : i32, 4 : i32, %t + 8, 80 : i32, %position, 20 : i32, 4 : i32) grid (1, 1, 1) block (256, 1, 1) covers [0] {label = "join"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x32xf32> {tgraph.state = "a"},
  %b: memref<1x16xf32> {tgraph.state = "b"},
  %t: memref<64x80xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  launch.join(a = %a : memref<1x32xf32>, b = %b : memref<1x16xf32>, out = %t : memref<64x80xf32>, at = %position : memref<1xi32>) {heads = 4 : i64, unit_pitch = 20 : i64, unit_offset = 2 : i64} covers [0]
  func.return
}
