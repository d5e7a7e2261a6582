// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// gather_norm_kept
// CHECK: driver.launch @rows::@gather_{{.*}}(%e, {{.*}}%token, {{.*}}%x, {{.*}}%n, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1] {label = "fold(gather, norm)"}
// CHECK: driver.launch @elementwise::@copy_{{.*}}(%x, {{.*}}%s{{.*}}) grid {{.*}} covers [] {label = "copy"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %s: memref<1x64xf32> {tgraph.state = "s"}) attributes {launch.lifted = 2 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x64>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %x = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %token : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  launch.copy(x = %x : memref<1x64xf32>, out = %s : memref<1x64xf32>) covers []
  func.return
}

// -----

// gather_norm_dropped
// CHECK: driver.launch @rows::@gather_{{.*}}(%e, {{.*}}%token, {{.*}}%n, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1] {label = "fold(gather, norm)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position}) attributes {launch.lifted = 2 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x64>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %x = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %token : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// gemv_norm
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%n, {{.*}}%r, {{.*}}%s, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1, 2, 3] {label = "fold(gemv, norm)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %r: memref<1x64xf32> {tgraph.state = "r"},
  %s: memref<1x64xf32> {tgraph.state = "s"}) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : !tgraph.q8<1x64>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %n : memref<64xf32>, quant = %y : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2, 3]
  }
  func.return
}

// -----

// gemv_rope
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%w, {{.*}}%y, {{.*}}%cos, {{.*}}%sin, {{.*}}%position{{.*}}) grid {{.*}} covers [0, 1] {label = "fold(gemv, rope)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %q = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [0]
    launch.rope(x = %q : memref<1x64xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [1]
  }
  func.return
}

// -----

// gemm_parts_rope_parts
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%wq, {{.*}}%qr, {{.*}}%n, {{.*}}%wk, {{.*}}%keys, {{.*}}%position, {{.*}}%wv, {{.*}}%values, {{.*}}%position, {{.*}}%cos, {{.*}}%sin, {{.*}}%position{{.*}}) grid {{.*}} covers [0, 1, 2, 3, 4, 5, 6, 7] {label = "fold(gemm_parts, rope_parts)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %keys: memref<256x64xf32> {tgraph.state = "keys"},
  %values: memref<256x64xf32> {tgraph.state = "values"}) attributes {launch.lifted = 8 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"wq"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"wk"> : !tgraph.rows<bf16, 64x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"wv"> : !tgraph.rows<bf16, 64x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<32xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x64xf32>
  %qr = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemm_parts(x = %x : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [0]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 64x64, transposed>, out = %k : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 64x64, transposed>, out = %values : memref<256x64xf32>, at = %position : memref<1xi32>) covers [2, 3]
    }
    launch.rope_parts(cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %n : memref<32xf32>, out = %qr : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [4, 5]
      launch.rope_side(x = %k : memref<1x64xf32>, out = %keys : memref<256x64xf32>, at = %position : memref<1xi32>) {heads = 2 : i64} covers [6, 7]
    }
  }
  func.return
}
