// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// binary_add
// CHECK: driver.launch @elementwise::@binary_rows(0 : i32, %a, 64 : i32, %b, 64 : i32, 1 : i32, 0 : i32, 1 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "binary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %b: memref<1x64xf32> {tgraph.state = "b"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x64xf32>
  launch.binary(a = %a : memref<1x64xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// binary_gated
// CHECK: driver.launch @elementwise::@binary_rows(2 : i32, %a, 64 : i32, %b, 64 : i32, 1 : i32, 2 : i32, 1 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0, 1] {label = "binary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %b: memref<1x64xf32> {tgraph.state = "b"}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : memref<1x64xf32>
  launch.binary(a = %a : memref<1x64xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x64xf32>) {kind = #tgraph<binary_kind mul>, gate = #launch<act sigmoid>} covers [0, 1]
  func.return
}

// -----

// binary_by_one_row
// CHECK: driver.launch @elementwise::@binary_rows(2 : i32, %a, 64 : i32, %b, 0 : i32, 1 : i32, 0 : i32, 2 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "binary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<2x64xf32> {tgraph.state = "a"},
  %b: memref<1x64xf32> {tgraph.state = "b"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<2x64xf32>
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<1x64xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind mul>} covers [0]
  func.return
}

// -----

// binary_by_one_column
// CHECK: driver.launch @elementwise::@binary_rows(2 : i32, %a, 64 : i32, %b, 1 : i32, 0 : i32, 0 : i32, 2 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "binary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<2x64xf32> {tgraph.state = "a"},
  %b: memref<2x1xf32> {tgraph.state = "b"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<2x64xf32>
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x1xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind mul>} covers [0]
  func.return
}

// -----

// swiglu_quantized
// CHECK: driver.launch @elementwise::@binary_rows(2 : i32, %b, 64 : i32, %a, 64 : i32, 1 : i32, 1 : i32, 1 : i32, 64 : i32, null, 0 : i32, null, %y, 1 : i32) grid {{.*}} covers [0, 1] {label = "swiglu"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %b: memref<1x64xf32> {tgraph.state = "b"}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : !tgraph.q8<1x64>
  launch.swiglu(gate = %a : memref<1x64xf32>, up = %b : memref<1x64xf32>, quant = %y : !tgraph.q8<1x64>) covers [0, 1]
  func.return
}

// -----

// unary
// CHECK: driver.launch @elementwise::@unary_rows(%a, 64 : i32, 3 : i32, 1.000000e+00 : f32, 1 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32, 1 : i32, 0 : i32, null) grid {{.*}} covers [0] {label = "unary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x64xf32>
  launch.unary(x = %a : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act gelu>} covers [0]
  func.return
}

// -----

// scale
// CHECK: driver.launch @elementwise::@unary_rows(%a, 64 : i32, 0 : i32, 8.000000e+00 : f32, 1 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32, 1 : i32, 0 : i32, null) grid {{.*}} covers [0] {label = "scale"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x64xf32>
  launch.scale(x = %a : memref<1x64xf32>, out = %y : memref<1x64xf32>) {factor = 8.000000e+00 : f32} covers [0]
  func.return
}

// -----

// quant
// CHECK: driver.launch @elementwise::@unary_rows(%a, 64 : i32, 0 : i32, 1.000000e+00 : f32, 1 : i32, 64 : i32, null, 0 : i32, null, %y, 2 : i32, 1 : i32, 0 : i32, null) grid {{.*}} covers [0] {label = "quant"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : !tgraph.q8<1x64, two_plane>
  launch.quant(x = %a : memref<1x64xf32>, quant = %y : !tgraph.q8<1x64, two_plane>) covers [0]
  func.return
}
