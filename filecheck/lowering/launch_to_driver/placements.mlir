// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// norm_of_parts_into_units_of_a_table
// CHECK: driver.launch @rows::@norm_rows(%x + 32, 96 : i32, 24 : i32, 4 : i32, 40 : i32, 8 : i32, 16 : i32, 1.000000e-06 : f32, %n, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, %t + 16, 160 : i32, %position, null, 0 : i32) grid (8, 1, 1) block (64, 1, 1) shared 64 covers [0] {label = "norm"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<2x96xf32> {tgraph.state = "x"},
  %t: memref<64x160xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<16xf32>
  launch.norm(x = %x : memref<2x96xf32>, w = %n : memref<16xf32>, out = %t : memref<64x160xf32>, at = %position : memref<1xi32>) {cols = 16 : i64, eps = 1.000000e-06 : f32, x_pitch = 24 : i64, x_offset = 8 : i64, unit_pitch = 40 : i64, unit_offset = 4 : i64} covers [0]
  func.return
}

// -----

// norm_of_heads_at_a_fixed_row
// CHECK: driver.launch @rows::@norm_rows(%x, 64 : i32, 16 : i32, 4 : i32, 16 : i32, 4 : i32, 16 : i32, 1.000000e-06 : f32, %n, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, %t + 768, 64 : i32, null, null, 0 : i32) grid (4, 1, 1) block (64, 1, 1) shared 64 covers [0] {label = "norm"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<64x64xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<16xf32>
  launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<16xf32>, out = %t : memref<64x64xf32>) {cols = 16 : i64, eps = 1.000000e-06 : f32, row = 3 : i64} covers [0]
  func.return
}

// -----

// rope_of_parts_into_units
// CHECK: driver.launch @rows::@rope_heads(%cos, %sin, %position, 8 : i32, 4 : i32, 1 : i32, %x + 64, 72 : i32, 24 : i32, %y + 32, 48 : i32, null, 16 : i32, 3 : i32, 0 : i32, null, 0.000000e+00 : f32{{.*}}grid (1, 1, 1) block (128, 1, 1) covers [0] {label = "rope"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x72xf32> {tgraph.state = "x"},
  %y: memref<1x48xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  launch.rope(x = %x : memref<1x72xf32>, cos = %cos : memref<64x4xf32>, sin = %sin : memref<64x4xf32>, position = %position : memref<1xi32>, out = %y : memref<1x48xf32>) {heads = 3 : i64, head_dim = 8 : i64, half = 4 : i64, x_pitch = 24 : i64, x_offset = 16 : i64, unit_pitch = 16 : i64, unit_offset = 8 : i64} covers [0]
  func.return
}

// -----

// rope_sides_in_units
// CHECK: driver.launch @rows::@rope_heads(%cos, %sin, %position, 8 : i32, 4 : i32, 1 : i32, %x + 64, 72 : i32, 24 : i32, %y, 24 : i32, null, 8 : i32, 3 : i32, 0 : i32, null, 0.000000e+00 : f32, %k + 16, 12 : i32, 12 : i32, %t + 48, 20 : i32, %position, 20 : i32, 1 : i32, 0 : i32, null, 0.000000e+00 : f32{{.*}}grid (1, 1, 1) block (128, 1, 1) covers [0, 1] {label = "rope_parts"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x72xf32> {tgraph.state = "x"},
  %k: memref<1x12xf32> {tgraph.state = "k"},
  %y: memref<1x24xf32> {tgraph.state = "y"},
  %t: memref<64x20xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  launch.rope_parts(cos = %cos : memref<64x4xf32>, sin = %sin : memref<64x4xf32>, position = %position : memref<1xi32>) attributes {head_dim = 8 : i64, half = 4 : i64} {
    launch.rope_side(x = %x : memref<1x72xf32>, out = %y : memref<1x24xf32>) {heads = 3 : i64, x_pitch = 24 : i64, x_offset = 16 : i64} covers [0]
    launch.rope_side(x = %k : memref<1x12xf32>, out = %t : memref<64x20xf32>, at = %position : memref<1xi32>) {heads = 1 : i64, x_pitch = 12 : i64, x_offset = 4 : i64, unit_pitch = 20 : i64, unit_offset = 12 : i64} covers [1]
  }
  func.return
}

// -----

// product_into_a_unit_of_a_row
// CHECK: driver.launch @gemv_bf16::@gemv_bf16_f32_{{.*}}(%x, {{.*}}%w, 32 : i32, null, %t + 64, 48 : i32, %position, 2 : i32, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, {{.*}} grid {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<64x48xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %t : memref<64x48xf32>, at = %position : memref<1xi32>) {unit_pitch = 48 : i64, unit_offset = 16 : i64} covers [0]
  func.return
}

// -----

// parts_of_a_product_side_by_side
// CHECK: driver.launch @gemv_bf16::@gemv_bf16_f32_{{.*}}(%x, {{.*}}%w, 32 : i32, null, %t, 48 : i32, null, 2 : i32, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, %v, 16 : i32, null, %t + 128, 48 : i32, null, 1 : i32, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, {{.*}} grid {{.*}} covers [0, 1] {label = "gemm_parts"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<1x48xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 16x64, transposed>
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %t : memref<1x48xf32>) {unit_pitch = 48 : i64, unit_offset = 0 : i64} covers [0]
    launch.gemm_part(w = %v : !tgraph.rows<bf16, 16x64, transposed>, out = %t : memref<1x48xf32>) {unit_pitch = 48 : i64, unit_offset = 32 : i64} covers [1]
  }
  func.return
}

// -----

// product_by_values_into_a_unit
// CHECK: driver.launch @values::@gemv_values(%x, 64 : i32, %w, null, %y + 32, 24 : i32, null, 64 : i32, 16 : i32, 64 : i32, null, null) grid (1, 1, 1) block (256, 1, 1) covers [0] {label = "gemv_f32"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x24xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<64x16xf32>
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x16xf32>, out = %y : memref<1x24xf32>) {unit_pitch = 24 : i64, unit_offset = 8 : i64} covers [0]
  func.return
}

// -----

// turned_product_into_units
// CHECK: driver.launch @gemv_bf16::@gemv_bf16_f32_{{.*}}(%x, {{.*}}%w, 16 : i32, null, %t + 48, 40 : i32, %position, 1 : i32, 1 : i32, 20 : i32, 0 : i32, null, 0.000000e+00 : f32, {{.*}}%cos, %sin, %position, 8 : i32, 4 : i32{{.*}}) grid {{.*}} covers [0, 1] {label = "fold(gemv, rope)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<64x40xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5, 0.25, 0.125], scale 1.0> : memref<64x4xf32>
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 16x64, transposed>
  %q = launch.alloc : memref<1x16xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 16x64, transposed>, out = %q : memref<1x16xf32>) covers [0]
    launch.rope(x = %q : memref<1x16xf32>, cos = %cos : memref<64x4xf32>, sin = %sin : memref<64x4xf32>, position = %position : memref<1xi32>, out = %t : memref<64x40xf32>, at = %position : memref<1xi32>) {heads = 2 : i64, head_dim = 8 : i64, half = 4 : i64, unit_pitch = 20 : i64, unit_offset = 12 : i64} covers [1]
  }
  func.return
}

// -----

// normed_product_into_a_unit
// CHECK: driver.launch @gemv_bf16::@gemv_bf16_f32_{{.*}}(%x, {{.*}}%w, 32 : i32, null, null, 0 : i32, null, 2 : i32, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, {{.*}}%n, {{.*}}%t + 64, 48 : i32, %position, null, 0 : i32, null, null, null, 1 : i32, 0 : i32, 1 : i32) grid {{.*}} covers [0, 1] {label = "fold(gemv, norm)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<64x48xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<32xf32>
  %o = launch.alloc : memref<1x32xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %o : memref<1x32xf32>) covers [0]
    launch.norm(x = %o : memref<1x32xf32>, w = %n : memref<32xf32>, out = %t : memref<64x48xf32>, at = %position : memref<1xi32>) {cols = 32 : i64, eps = 1.000000e-06 : f32, unit_pitch = 48 : i64, unit_offset = 16 : i64} covers [1]
  }
  func.return
}
