// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// gemv
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%y{{.*}}) grid {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  %y = launch.alloc : memref<1x128xf32>
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 128x64, transposed>, out = %y : memref<1x128xf32>) covers [0]
  func.return
}

// -----

// gemv_by_rings: the last two arguments are the values of a slot's rows and the bytes before the rings
// CHECK: driver.launch @gemv_bf16::@gemv_bf16_f32_r1b(%x, {{.*}}%w, {{.*}}%y{{.*}}, 1024 : i32, 8192 : i32) grid (132, 1, 1) block (512, 1, 1) shared 139264 {{.*}}covers [0] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x2048xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 300x2048, transposed>
  %y = launch.alloc : memref<1x300xf32>
  launch.gemv(x = %x : memref<1x2048xf32>, w = %w : !tgraph.rows<bf16, 300x2048, transposed>, out = %y : memref<1x300xf32>) covers [0]
  func.return
}

// -----

// gemv_by_blocks
// CHECK: driver.launch @gemv_q4_k::@gemv_q4_k_f32_r4(%x, {{.*}}%w, {{.*}}%y{{.*}}) grid {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x256xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_k, 128x256, transposed>
  %y = launch.alloc : memref<1x128xf32>
  launch.gemv(x = %x : memref<1x256xf32>, w = %w : !tgraph.rows<q4_k, 128x256, transposed>, out = %y : memref<1x128xf32>) covers [0]
  func.return
}

// -----

// gemv_bias_into_a_row
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%b, {{.*}}%table, {{.*}}%position{{.*}}) grid {{.*}} covers [0, 1, 2] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %table: memref<256x128xf32> {tgraph.state = "table"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  %b = launch.constant #tgraph.checkpoint<"b"> : memref<1x128xf32>
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 128x64, transposed>, bias = %b : memref<1x128xf32>, out = %table : memref<256x128xf32>, at = %position : memref<1xi32>) covers [0, 1, 2]
  func.return
}

// -----

// gemv_into_a_fixed_row
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%table + 1536{{.*}}) grid {{.*}} covers [0, 1] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %table: memref<256x128xf32> {tgraph.state = "table"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 128x64, transposed>, out = %table : memref<256x128xf32>) {row = 3 : i64} covers [0, 1]
  func.return
}

// -----

// gemv_of_quantized
// CHECK: driver.launch @gemv_q8_0::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%y{{.*}}) grid {{.*}} covers [0] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<1x64> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 128x64, transposed>
  %y = launch.alloc : memref<1x128xf32>
  launch.gemv(x = %x : !tgraph.q8<1x64>, w = %w : !tgraph.rows<q8_0, 128x64, transposed>, out = %y : memref<1x128xf32>) covers [0]
  func.return
}

// -----

// gemv_of_two_planes_quantized
// CHECK: driver.launch @gemv_q8_0::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1] {label = "gemv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<1x64, two_plane> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 128x64, transposed>
  %y = launch.alloc : !tgraph.q8<1x128, two_plane>
  launch.gemv(x = %x : !tgraph.q8<1x64, two_plane>, w = %w : !tgraph.rows<q8_0, 128x64, transposed>, quant = %y : !tgraph.q8<1x128, two_plane>) covers [0, 1]
  func.return
}

// -----

// gemm_parts
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%y, {{.*}}%v, {{.*}}%z{{.*}}) grid {{.*}} covers [0, 1] {label = "gemm_parts"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %y = launch.alloc : memref<1x128xf32>
  %z = launch.alloc : memref<1x32xf32>
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 128x64, transposed>, out = %y : memref<1x128xf32>) covers [0]
    launch.gemm_part(w = %v : !tgraph.rows<bf16, 32x64, transposed>, out = %z : memref<1x32xf32>) covers [1]
  }
  func.return
}

// -----

// gemv_glu
// CHECK: driver.launch @gemv_bf16::@glu_{{.*}}(%x, {{.*}}%g, {{.*}}%u, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1, 2] {label = "gemv_glu"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 3 : i64} {
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %y = launch.alloc : memref<1x128xf32>
  launch.gemv_glu(x = %x : memref<1x64xf32>, wg = %g : !tgraph.rows<bf16, 128x64, transposed>, wu = %u : !tgraph.rows<bf16, 128x64, transposed>, out = %y : memref<1x128xf32>) {act = #launch<act silu>} covers [0, 1, 2]
  func.return
}

// -----

// gemv_glu_quantized
// CHECK: driver.launch @gemv_q8_0::@glu_{{.*}}(%x, {{.*}}%g, {{.*}}%u, {{.*}}%b, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1, 2, 3, 4] {label = "gemv_glu"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: !tgraph.q8<1x64> {tgraph.state = "x"}) attributes {launch.lifted = 5 : i64} {
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<q8_0, 128x64, transposed>
  %b = launch.constant #tgraph.checkpoint<"b"> : memref<1x128xf32>
  %y = launch.alloc : !tgraph.q8<1x128>
  launch.gemv_glu(x = %x : !tgraph.q8<1x64>, wg = %g : !tgraph.rows<q8_0, 128x64, transposed>, wu = %u : !tgraph.rows<q8_0, 128x64, transposed>, bg = %b : memref<1x128xf32>, quant = %y : !tgraph.q8<1x128>) {act = #launch<act gelu_tanh>} covers [0, 1, 2, 3, 4]
  func.return
}
