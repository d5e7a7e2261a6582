// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// Three convolutions with silu, two of them normed by heads: a block a head, then a block 32 channels, in one launch.
// CHECK: driver.launch @conv::@conv_channels(1 : i32, 4 : i32, 1 : i32, 1.000000e-06 : f32, 1 : i32, %q, 64 : i32, %wq, %rq, %qc, 64 : i32, 64 : i32, 32 : i32, 1 : i32, %q, 64 : i32, %wq, %rk, %kc, 64 : i32, 64 : i32, 32 : i32, 1 : i32, %v, 100 : i32, %wv, %rv, %vc, 100 : i32, 100 : i32, 32 : i32, 0 : i32, null, {{.*}}) grid (8, 1, 1) block (32, 1, 1) covers [0, 1, 2, 3, 4, 5, 6, 7] {label = "conv_parts"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %v: memref<1x100xf32> {tgraph.state = "v"},
  %rq: memref<3x64xf32> {tgraph.state = "rq"},
  %rk: memref<3x64xf32> {tgraph.state = "rk"},
  %rv: memref<3x100xf32> {tgraph.state = "rv"}) attributes {launch.lifted = 8 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"wq"> : memref<64x4xf32>
  %wv = launch.constant #tgraph.checkpoint<"wv"> : memref<100x4xf32>
  %qc = launch.alloc : memref<1x64xf32>
  %kc = launch.alloc : memref<1x64xf32>
  %vc = launch.alloc : memref<1x100xf32>
  launch.conv_parts() attributes {eps = 1.000000e-06 : f32} {
    launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [0, 1, 2]
    launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rk : memref<3x64xf32>, out = %kc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5]
    launch.conv_part(x = %v : memref<1x100xf32>, w = %wv : memref<100x4xf32>, ring = %rv : memref<3x100xf32>, out = %vc : memref<1x100xf32>) covers [6, 7]
  }
  func.return
}

// -----

// One convolution alone, by a matrix that the step is given, for three rows: its weights wait as everything else does.
// CHECK: driver.launch @conv::@conv_channels(3 : i32, 2 : i32, 0 : i32, 0.000000e+00 : f32, 0 : i32, %x, 200 : i32, %w, %r, %y, 200 : i32, 200 : i32, 128 : i32, 0 : i32, null, {{.*}}) grid (2, 1, 1) block (128, 1, 1) covers [0] {label = "conv"}
func.func @step(
  %token: memref<3xi32> {tgraph.token},
  %x: memref<3x200xf32> {tgraph.state = "x"},
  %w: memref<200x2xf32> {tgraph.state = "w"},
  %r: memref<1x200xf32> {tgraph.state = "r"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<3x200xf32>
  launch.conv(x = %x : memref<3x200xf32>, w = %w : memref<200x2xf32>, ring = %r : memref<1x200xf32>, out = %y : memref<3x200xf32>) covers [0]
  func.return
}

// -----

// l2 norms, the decay alone, both gates, and the gates with their products, for two rows.
// CHECK: %[[COUNTERS:.*]] = driver.scratch counters bytes 4
// CHECK: %[[PARTIALS:.*]] = driver.scratch partials bytes 128
// CHECK: driver.launch @conv::@l2_rows(%x, 32 : i32, %n, 32 : i32, 32 : i32, 1.000000e-06 : f32) grid (8, 1, 1) block (64, 1, 1) covers [0] {label = "l2norm"}
// CHECK: driver.launch @gates::@gates_each(null, %b, %dt, %al, null, %d0, 8 : i32, 4 : i32) grid (1, 1, 1) block (256, 1, 1) covers [1] {label = "decay"}
// CHECK: driver.launch @gates::@gates_each(%b, %b, %dt, %al, %e1, %d1, 8 : i32, 4 : i32) grid (1, 1, 1) block (256, 1, 1) covers [2, 3] {label = "gates"}
// CHECK: driver.launch @gates::@gate_projections(%n, 128 : i32, %w, %w, %dt, %al, %e2, %d2, 2 : i32, 128 : i32, 4 : i32, 64 : i32, 1 : i32, %[[PARTIALS]], %[[COUNTERS]]) grid (1, 2, 1) block (256, 1, 1) covers [4, 5, 6, 7] {label = "gate_proj"}
func.func @step(
  %token: memref<2xi32> {tgraph.token},
  %x: memref<2x128xf32> {tgraph.state = "x"},
  %b: memref<2x4xf32> {tgraph.state = "b"}) attributes {launch.lifted = 8 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<128x4xf32>
  %dt = launch.constant #tgraph.checkpoint<"dt"> : memref<4xf32>
  %al = launch.constant #tgraph.checkpoint<"al"> : memref<4xf32>
  %n = launch.alloc : memref<2x128xf32>
  %d0 = launch.alloc : memref<2x4xf32>
  %d1 = launch.alloc : memref<2x4xf32>
  %d2 = launch.alloc : memref<2x4xf32>
  %e1 = launch.alloc : memref<2x4xf32>
  %e2 = launch.alloc : memref<2x4xf32>
  launch.l2norm(x = %x : memref<2x128xf32>, out = %n : memref<2x128xf32>) {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [0]
  launch.decay(a = %b : memref<2x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, out = %d0 : memref<2x4xf32>) covers [1]
  launch.gates(b = %b : memref<2x4xf32>, a = %b : memref<2x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %e1 : memref<2x4xf32>, decay = %d1 : memref<2x4xf32>) covers [2, 3]
  launch.gate_proj(x = %n : memref<2x128xf32>, wb = %w : memref<128x4xf32>, wa = %w : memref<128x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %e2 : memref<2x4xf32>, decay = %d2 : memref<2x4xf32>) {splits = 2 : i64} covers [4, 5, 6, 7]
  func.return
}

// -----

// The delta rule of six value heads over two key heads: a block 16 columns of a head's state. In f32 and quantized.
// CHECK: driver.launch @delta::@delta_k4(%q, 192 : i32, %q, 192 : i32, %v, 576 : i32, %v, 576 : i32, %b, %b, %s, %n, 1 : i32, 3 : i32, 96 : i32, 0.102062076 : f32, 1.000000e-06 : f32, {{.*}}, {{.*}}, %y, 576 : i32, null, %yq, 1 : i32) grid (6, 6, 1) block (128, 1, 1) covers [0, 1] {label = "delta"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %q: memref<1x192xf32> {tgraph.state = "q"},
  %v: memref<1x576xf32> {tgraph.state = "v"},
  %b: memref<1x6xf32> {tgraph.state = "b"},
  %s: memref<576x96xf32> {tgraph.state = "s"}) attributes {launch.lifted = 2 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<96xf32>
  %y = launch.alloc : memref<1x576xf32>
  %yq = launch.alloc : !tgraph.q8<1x576>
  launch.delta(q = %q : memref<1x192xf32>, k = %q : memref<1x192xf32>, v = %v : memref<1x576xf32>, z = %v : memref<1x576xf32>, beta = %b : memref<1x6xf32>, decay = %b : memref<1x6xf32>, state = %s : memref<576x96xf32>, norm_weight = %n : memref<96xf32>, out = %y : memref<1x576xf32>, quant = %yq : !tgraph.q8<1x576>) {value_heads = 6 : i64, key_heads = 2 : i64, head_dim = 96 : i64, eps = 1.000000e-06 : f32} covers [0, 1]
  func.return
}

// -----

// One convolution with silu, normed by groups wider than a block has threads: a block a group.
// CHECK: driver.launch @conv::@conv_channels(1 : i32, 3 : i32, 1 : i32, 1.000000e-03 : f32, 1 : i32, %x, 4096 : i32, %w, %r, %y, 4096 : i32, 4096 : i32, 2048 : i32, 1 : i32, null, {{.*}}) grid (2, 1, 1) block (1024, 1, 1) covers [0, 1, 2] {label = "conv"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x4096xf32> {tgraph.state = "x"},
  %r: memref<2x4096xf32> {tgraph.state = "r"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<4096x3xf32>
  %y = launch.alloc : memref<1x4096xf32>
  launch.conv(x = %x : memref<1x4096xf32>, w = %w : memref<4096x3xf32>, ring = %r : memref<2x4096xf32>, out = %y : memref<1x4096xf32>) {silu, l2_cols = 2048 : i64, eps = 1.000000e-03 : f32} covers [0, 1, 2]
  func.return
}
