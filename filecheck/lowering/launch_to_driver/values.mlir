// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// Rows of x by a plain matrix: 32 outputs a block, one grid row a row of x.
// CHECK: driver.launch @values::@gemv_values(%x, 64 : i32, %w, null, %y, 70 : i32, null, 64 : i32, 70 : i32, 64 : i32, null, null) grid (3, 2, 1) block (256, 1, 1)
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<2x64xf32> {tgraph.state = "x"}) -> (memref<2x70xf32> {tgraph.logits}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<64x70xf32>
  %y = launch.alloc : memref<2x70xf32>
  launch.gemv_f32(x = %x : memref<2x64xf32>, w = %w : memref<64x70xf32>, out = %y : memref<2x70xf32>) covers [0]
  func.return %y : memref<2x70xf32>
}

// -----

// With a bias, into rows of a table at the step's position.
// CHECK: driver.launch @values::@gemv_values(%x, 64 : i32, %w, %b, %t, 70 : i32, %position, 64 : i32, 70 : i32, 64 : i32, null, null) grid (3, 1, 1)
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %t: memref<16x70xf32> {tgraph.state = "t"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<64x70xf32>
  %b = launch.constant #tgraph.checkpoint<"b"> : memref<1x70xf32>
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x70xf32>, bias = %b : memref<1x70xf32>, out = %t : memref<16x70xf32>, at = %position : memref<1xi32>) covers [0, 1, 2]
  func.return
}

// -----

// Split into shares of whole 64 inputs: three of the four asked for, whose sums wait for the last.
// CHECK: %[[COUNTERS:.*]] = driver.scratch counters bytes 4
// CHECK: %[[PARTIALS:.*]] = driver.scratch partials bytes 192
// CHECK: driver.launch @values::@gemv_values(%x, 192 : i32, %w, null, %y, 16 : i32, null, 192 : i32, 16 : i32, 64 : i32, %[[PARTIALS]], %[[COUNTERS]]) grid (1, 1, 3) block (256, 1, 1)
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x192xf32> {tgraph.state = "x"}) -> (memref<1x16xf32> {tgraph.logits}) attributes {launch.lifted = 1 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<192x16xf32>
  %y = launch.alloc : memref<1x16xf32>
  launch.gemv_f32(x = %x : memref<1x192xf32>, w = %w : memref<192x16xf32>, out = %y : memref<1x16xf32>) {splits = 4 : i64} covers [0]
  func.return %y : memref<1x16xf32>
}

// -----

// A position moved on by a chunk's rows.
// CHECK: driver.launch @elementwise::@advance_index(%position, %next, 3 : i32, 1 : i32) grid (1, 1, 1) block (32, 1, 1)
func.func @step(
  %token: memref<3xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position}) attributes {launch.lifted = 1 : i64} {
  %next = launch.alloc : memref<1xi32>
  launch.advance(x = %position : memref<1xi32>, out = %next : memref<1xi32>) {by = 3 : i64} covers [0]
  func.return
}
