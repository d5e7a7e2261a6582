// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// norm
// CHECK: driver.launch @rows::@norm_rows(%x, 64 : i32, 64 : i32, 1 : i32, 64 : i32, 1 : i32, 64 : i32, 1.000000e-06 : f32, %n, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "norm"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// norm_of_heads
// CHECK: driver.launch @rows::@norm_rows(%x, 64 : i32, 16 : i32, 4 : i32, 16 : i32, 4 : i32, 16 : i32, 1.000000e-06 : f32, %n, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "norm"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<16xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<16xf32>, out = %y : memref<1x64xf32>) {cols = 16 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// sandwiched_norm_of_a_sum_quantized
// CHECK: driver.launch @rows::@norm_rows(%x, 64 : i32, 64 : i32, 1 : i32, 64 : i32, 1 : i32, 64 : i32, 1.000000e-06 : f32, %n, %r, 64 : i32, %s, 64 : i32, 1 : i32, %p, 1.000000e-05 : f32, null, 0 : i32, null, %q, 1 : i32) grid {{.*}} covers [0, 1, 2, 3] {label = "norm"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %r: memref<1x64xf32> {tgraph.state = "r"},
  %s: memref<1x64xf32> {tgraph.state = "s"}) attributes {launch.lifted = 4 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %p = launch.constant #tgraph.checkpoint<"p"> : memref<64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  launch.norm(x = %x : memref<1x64xf32>, pre = %p : memref<64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %n : memref<64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32, pre_eps = 1.000000e-05 : f32} covers [0, 1, 2, 3]
  func.return
}

// -----

// rope
// CHECK: driver.launch @rows::@rope_heads(%cos, %sin, %position, 32 : i32, 16 : i32, 1 : i32, %x, 64 : i32, 32 : i32, %y, 64 : i32, null, 32 : i32, 2 : i32, 1 : i32, %n, 1.000000e-06 : f32, null, 0 : i32, 0 : i32, null, 0 : i32, null, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, 0 : i32, null, 0 : i32, null, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, 0 : i32, null, 0 : i32, null, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32) grid {{.*}} covers [0, 1] {label = "rope"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<32xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.rope(x = %x : memref<1x64xf32>, norm = %n : memref<32xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [0, 1]
  func.return
}

// -----

// rope_parts
// CHECK: driver.launch @rows::@rope_heads(%cos, %sin, %position, 32 : i32, 16 : i32, 1 : i32, %q, 64 : i32, 32 : i32, %y, 64 : i32, null, 32 : i32, 2 : i32, 0 : i32, null, 0.000000e+00 : f32, %k, 64 : i32, 32 : i32, %table, 64 : i32, %position, 32 : i32, 2 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, 0 : i32, null, 0 : i32, null, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, 0 : i32, null, 0 : i32, null, 0 : i32, 0 : i32, 0 : i32, null, 0.000000e+00 : f32) grid {{.*}} covers [0, 1, 2] {label = "rope_parts"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %k: memref<1x64xf32> {tgraph.state = "k"},
  %table: memref<256x64xf32> {tgraph.state = "table"}) attributes {launch.lifted = 3 : i64} {
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.rope_parts(cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %q : memref<1x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64} covers [0]
    launch.rope_side(x = %k : memref<1x64xf32>, out = %table : memref<256x64xf32>, at = %position : memref<1xi32>) {heads = 2 : i64} covers [1, 2]
  }
  func.return
}
