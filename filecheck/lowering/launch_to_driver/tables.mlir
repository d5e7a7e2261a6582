// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// gather
// CHECK: driver.launch @rows::@gather_q8_0(%e, 256 : i32, 64 : i32, 64 : i32, %token, 1 : i32, 8.000000e+00 : f32, %y, 64 : i32, null, 0 : i32, 0.000000e+00 : f32, null, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, null, null, 0 : i32) grid {{.*}} covers [0, 1] {label = "gather"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position}) attributes {launch.lifted = 2 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<q8_0, 256x64>
  %y = launch.alloc : memref<1x64xf32>
  launch.gather(table = %e : !tgraph.rows<q8_0, 256x64>, index = %token : memref<1xi32>, out = %y : memref<1x64xf32>) {scale = 8.000000e+00 : f32} covers [0, 1]
  func.return
}

// -----

// gather_of_values
// CHECK: driver.launch @rows::@gather_f32(%e, 256 : i32, 64 : i32, 256 : i32, %token, 1 : i32, 1.000000e+00 : f32, %y, 64 : i32, null, 0 : i32, 0.000000e+00 : f32, null, null, 0 : i32, null, 0 : i32, 0 : i32, null, 0.000000e+00 : f32, null, 0 : i32, null, null, 0 : i32) grid {{.*}} covers [0] {label = "gather"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position}) attributes {launch.lifted = 1 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : memref<256x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.gather(table = %e : memref<256x64xf32>, index = %token : memref<1xi32>, out = %y : memref<1x64xf32>) covers [0]
  func.return
}

// -----

// set_row
// CHECK: driver.launch @elementwise::@copy_rows(%a, 64 : i32, null, 0 : i32, %table, 64 : i32, %position, 0 : i32, 64 : i32, 1 : i32) grid {{.*}} covers [0] {label = "set_row"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"},
  %table: memref<256x64xf32> {tgraph.state = "table"}) attributes {launch.lifted = 1 : i64} {
  launch.set_row(source = %a : memref<1x64xf32>, out = %table : memref<256x64xf32>, at = %position : memref<1xi32>) covers [0]
  func.return
}

// -----

// slice
// CHECK: driver.launch @elementwise::@copy_rows(%a + 32, 64 : i32, null, 32 : i32, %y, 16 : i32, null, 8 : i32, 8 : i32, 2 : i32) grid {{.*}} covers [0] {label = "slice"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x16xf32>
  launch.slice(x = %a : memref<1x64xf32>, out = %y : memref<1x16xf32>) {start = 8 : i64, width = 8 : i64, every = 32 : i64} covers [0]
  func.return
}

// -----

// copy
// CHECK: driver.launch @elementwise::@copy_rows(%a, 16384 : i32, null, 0 : i32, %y, 16384 : i32, null, 0 : i32, 16384 : i32, 1 : i32) grid {{.*}} covers [] {label = "copy"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<256x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 0 : i64} {
  %y = launch.alloc : memref<256x64xf32>
  launch.copy(x = %a : memref<256x64xf32>, out = %y : memref<256x64xf32>) covers []
  func.return
}

// -----

// copy_of_quantized
// CHECK: driver.launch @elementwise::@copy_rows(%a, 18 : i32, null, 0 : i32, %y, 18 : i32, null, 0 : i32, 18 : i32, 1 : i32) grid {{.*}} covers [] {label = "copy"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: !tgraph.q8<1x64> {tgraph.state = "a"}) attributes {launch.lifted = 0 : i64} {
  %y = launch.alloc : !tgraph.q8<1x64>
  launch.copy(x = %a : !tgraph.q8<1x64>, out = %y : !tgraph.q8<1x64>) covers []
  func.return
}

// -----

// view
// CHECK: driver.launch @elementwise::@unary_rows(%a + 512, 64 : i32, 1 : i32, 1.000000e+00 : f32, 1 : i32, 64 : i32, %y, 64 : i32, null, null, 0 : i32, 1 : i32, 0 : i32, null) grid {{.*}} covers [1] {label = "unary"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<3x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 2 : i64} {
  %v = launch.view %a offset 128 covers [0] : memref<3x64xf32> -> memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.unary(x = %v : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  func.return
}

// -----

// arg_max
// CHECK: driver.launch @arg_max::@arg_max_rows(%a, 64 : i32, 64 : i32, %y, %1, %0, null, null) grid {{.*}} covers [0] {label = "arg_max"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1xi32>
  launch.arg_max(x = %a : memref<1x64xf32>, out = %y : memref<1xi32>) covers [0]
  func.return
}

// -----

// arg_max_advancing
// CHECK: driver.launch @arg_max::@arg_max_rows(%a, 64 : i32, 64 : i32, %y, %1, %0, %token, %position) grid {{.*}} covers [0, 1] {label = "arg_max"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : memref<1xi32>
  launch.arg_max(x = %a : memref<1x64xf32>, out = %y : memref<1xi32>, token = %token : memref<1xi32>, position = %position : memref<1xi32>) covers [0, 1]
  func.return
}

// -----

// set_row_quantized: the row's quantized form lands in row 2 of 4, beside its f32 form or alone
// CHECK: driver.launch @elementwise::@unary_rows(%a, 64 : i32, 0 : i32, 1.000000e+00 : f32, 1 : i32, 64 : i32, %t + 512, 64 : i32, null, %y, 1 : i32, 4 : i32, 2 : i32, null) grid {{.*}} covers [0] {label = "set_row"}
// CHECK: driver.launch @elementwise::@unary_rows(%a, 64 : i32, 0 : i32, 1.000000e+00 : f32, 1 : i32, 64 : i32, null, 0 : i32, null, %y, 1 : i32, 4 : i32, 0 : i32, %position) grid {{.*}} covers [1] {label = "set_row"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %t: memref<4x64xf32> {tgraph.state = "t"},
  %a: memref<1x64xf32> {tgraph.state = "a"}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : !tgraph.q8<4x64>
  launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<4x64xf32>, quant = %y : !tgraph.q8<4x64>) {row = 2 : i64} covers [0]
  launch.set_row(source = %a : memref<1x64xf32>, at = %position : memref<1xi32>, quant = %y : !tgraph.q8<4x64>) covers [1]
  func.return
}
