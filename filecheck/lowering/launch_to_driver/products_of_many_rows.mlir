// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// gemv: two tiles of 32 rows, the second shared by two blocks
// CHECK: driver.launch @gemm_q8_0::@gemm_q8_0_r32(%x, {{.*}}%w, {{.*}}%y, {{.*}}) grid (3, 1, 1) {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %y = launch.alloc : memref<16x256xf32>
  launch.gemv(x = %x : !tgraph.q8<16x512>, w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %y : memref<16x256xf32>) {tail_from = 1 : i64, tail_split = 2 : i64} covers [0]
  func.return
}

// -----

// gemv_quantized: two tiles across, three down
// CHECK: driver.launch @gemm_q4_k::@gemm_q4_k_r64(%x, {{.*}}%w, {{.*}}%b, {{.*}}%y, {{.*}}) grid (6, 1, 1) {{.*}} covers [0, 1, 2] {label = "gemv"}
func.func @step(
  %token: memref<130xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<130x512, two_plane> {tgraph.state = "x"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_k, 256x512, transposed>
  %b = launch.constant #tgraph.checkpoint<"b"> : memref<1x256xf32>
  %y = launch.alloc : !tgraph.q8<130x256>
  launch.gemv(x = %x : !tgraph.q8<130x512, two_plane>, w = %w : !tgraph.rows<q4_k, 256x512, transposed>, bias = %b : memref<1x256xf32>, quant = %y : !tgraph.q8<130x256>) covers [0, 1, 2]
  func.return
}

// -----

// gemv_glu: a tile has 64 outputs of each matrix
// CHECK: driver.launch @gemm_q8_0::@gemm_q8_0_r32(%x, {{.*}}%g, {{.*}}%y, {{.*}}%u, {{.*}}) grid (4, 1, 1) {{.*}} covers [0, 1, 2] {label = "gemv_glu"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 3 : i64} {
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 256x512, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<q8_0, 256x512, transposed>
  %y = launch.alloc : memref<16x256xf32>
  launch.gemv_glu(x = %x : !tgraph.q8<16x512>, wg = %g : !tgraph.rows<q8_0, 256x512, transposed>, wu = %u : !tgraph.rows<q8_0, 256x512, transposed>, out = %y : memref<16x256xf32>) {act = #launch<act silu>} covers [0, 1, 2]
  func.return
}

// -----

// gemm_parts
// CHECK: driver.launch @gemm_q8_0::@gemm_q8_0_r32(%x, {{.*}}%w, {{.*}}%y, {{.*}}%v, {{.*}}%z, {{.*}}) grid (3, 1, 1) {{.*}} covers [0, 1] {label = "gemm_parts"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<q8_0, 32x512, transposed>
  %y = launch.alloc : memref<16x256xf32>
  %z = launch.alloc : memref<16x32xf32>
  launch.gemm_parts(x = %x : !tgraph.q8<16x512>) {
    launch.gemm_part(w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %y : memref<16x256xf32>) covers [0]
    launch.gemm_part(w = %v : !tgraph.rows<q8_0, 32x512, transposed>, out = %z : memref<16x32xf32>) covers [1]
  }
  func.return
}

// -----

// gemv_rope: heads that a tile holds whole
// CHECK: driver.launch @gemm_q8_0::@gemm_q8_0_r32(%x, {{.*}}%w, {{.*}}%y, {{.*}}%cos, {{.*}}%sin, {{.*}}%position{{.*}}) grid (2, 1, 1) {{.*}} covers [0, 1] {label = "fold(gemv, rope)"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %q = launch.alloc : memref<16x256xf32>
  %y = launch.alloc : memref<16x256xf32>
  launch.fold() {
    launch.gemv(x = %x : !tgraph.q8<16x512>, w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %q : memref<16x256xf32>) covers [0]
    launch.rope(x = %q : memref<16x256xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %y : memref<16x256xf32>) {heads = 4 : i64, head_dim = 64 : i64, half = 16 : i64} covers [1]
  }
  func.return
}

// -----

// gemv_rope_of_other_heads: 96 values are no part of 128
// CHECK: driver.launch @gemv_q8_0::@gemv_q8_0_q8_r4(%x, {{.*}} covers [0, 1] {label = "fold(gemv, rope)"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 192x512, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %q = launch.alloc : memref<16x192xf32>
  %y = launch.alloc : memref<16x192xf32>
  launch.fold() {
    launch.gemv(x = %x : !tgraph.q8<16x512>, w = %w : !tgraph.rows<q8_0, 192x512, transposed>, out = %q : memref<16x192xf32>) covers [0]
    launch.rope(x = %q : memref<16x192xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %y : memref<16x192xf32>) {heads = 2 : i64, head_dim = 96 : i64, half = 16 : i64} covers [1]
  }
  func.return
}

// -----

// gemv_norm: a whole row is no block's
// CHECK: driver.launch @gemv_q8_0::@gemv_q8_0_q8_r4(%x, {{.*}} covers [0, 1] {label = "fold(gemv, norm)"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<16x512> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %o = launch.alloc : memref<16x256xf32>
  %y = launch.alloc : memref<16x256xf32>
  launch.fold() {
    launch.gemv(x = %x : !tgraph.q8<16x512>, w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %o : memref<16x256xf32>) covers [0]
    launch.norm(x = %o : memref<16x256xf32>, out = %y : memref<16x256xf32>) {cols = 256 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// gemv_of_eight: few rows
// CHECK: driver.launch @gemv_q8_0::@gemv_q8_0_q8_r4(%x, {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<8xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<8x512> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %y = launch.alloc : memref<8x256xf32>
  launch.gemv(x = %x : !tgraph.q8<8x512>, w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %y : memref<8x256xf32>) covers [0]
  func.return
}

// -----

// gemv_of_f32: dequantized weights
// CHECK: driver.launch @gemv_q8_0::@gemv_q8_0_f32_r4(%x, {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<16xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<16x512xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 256x512, transposed>
  %y = launch.alloc : memref<16x256xf32>
  launch.gemv(x = %x : memref<16x512xf32>, w = %w : !tgraph.rows<q8_0, 256x512, transposed>, out = %y : memref<16x256xf32>) covers [0]
  func.return
}
