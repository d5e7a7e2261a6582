// RUN: lanelink-opt %s --split-input-file --verify-diagnostics -p plan-buffers,lower-to-driver | filecheck %s

// heads_of_no_whole_blocks
// CHECK: lower-to-driver delta: delta head: expected a multiple of 32 values, at most 1024, got 48
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %q: memref<1x48xf32> {tgraph.state = "q"},
  %b: memref<1x1xf32> {tgraph.state = "b"},
  %n: memref<48xf32> {tgraph.state = "n"},
  %s: memref<48x48xf32> {tgraph.state = "s"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x48xf32>
  launch.delta(q = %q : memref<1x48xf32>, k = %q : memref<1x48xf32>, v = %q : memref<1x48xf32>, z = %q : memref<1x48xf32>, beta = %b : memref<1x1xf32>, decay = %b : memref<1x1xf32>, state = %s : memref<48x48xf32>, norm_weight = %n : memref<48xf32>, out = %y : memref<1x48xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 48 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// state_between_loads
// CHECK: lower-to-driver delta: delta state: expected a buffer at a multiple of 4 values, got one at byte 8
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %q: memref<1x32xf32> {tgraph.state = "q"},
  %b: memref<1x1xf32> {tgraph.state = "b"},
  %n: memref<32xf32> {tgraph.state = "n"},
  %t: memref<33x32xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %s = launch.view %t offset 2 covers [1] : memref<33x32xf32> -> memref<32x32xf32>
  %y = launch.alloc : memref<1x32xf32>
  launch.delta(q = %q : memref<1x32xf32>, k = %q : memref<1x32xf32>, v = %q : memref<1x32xf32>, z = %q : memref<1x32xf32>, beta = %b : memref<1x1xf32>, decay = %b : memref<1x1xf32>, state = %s : memref<32x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// nine_taps
// CHECK: lower-to-driver conv: conv taps: expected 2 to 8, got 9
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x32xf32> {tgraph.state = "x"},
  %r: memref<8x32xf32> {tgraph.state = "r"}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<32x9xf32>
  %y = launch.alloc : memref<1x32xf32>
  launch.conv(x = %x : memref<1x32xf32>, w = %w : memref<32x9xf32>, ring = %r : memref<8x32xf32>, out = %y : memref<1x32xf32>) covers [0]
  func.return
}
