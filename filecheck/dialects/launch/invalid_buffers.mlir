// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "constant_of_indices"
// CHECK: | Operation does not verify: launch.constant: expected !tgraph.rows or a static memref<...xf32>, got memref<4xi32>
func.func @constant_of_indices() {
  %c = launch.constant #tgraph.checkpoint<"w"> : memref<4xi32>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_unknown_size"
// CHECK: | Operation does not verify: launch.constant: expected !tgraph.rows or a static memref<...xf32>, got memref<?x4xf32>
func.func @constant_of_unknown_size() {
  %c = launch.constant #tgraph.checkpoint<"w"> : memref<?x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "constant_that_is_a_tensor"
// CHECK: | Operation does not verify: launch.constant: expected !tgraph.rows or a static memref<...xf32>, got tensor<4xf32>
func.func @constant_that_is_a_tensor() {
  %c = launch.constant #tgraph.checkpoint<"w"> : tensor<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "rotation_table_of_another_width"
// CHECK: | Operation does not verify: launch.constant of a rotation table: width: expected 2, got 3
func.func @rotation_table_of_another_width() {
  %c = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : memref<8x3xf32>
  func.return
}

// -----

// CHECK: sym_name = "rotation_table_of_rows"
// CHECK: | Operation does not verify: launch.constant of a rotation table: expected a static memref<RxWxf32>, got !tgraph.rows<f32, 8x2>
func.func @rotation_table_of_rows() {
  %c = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : !tgraph.rows<f32, 8x2>
  func.return
}

// -----

// CHECK: Unexpected attribute 4 : i64
func.func @constant_from_nowhere() {
  %c = launch.constant 4 : i64 : memref<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "alloc_of_unknown_size"
// CHECK: | Operation does not verify: launch.alloc: expected !tgraph.q8 or a static memref of f32, f16 or i32, got memref<?x4xf32>
func.func @alloc_of_unknown_size() {
  %b = launch.alloc : memref<?x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "alloc_of_f64"
// CHECK: | Operation does not verify: launch.alloc: expected !tgraph.q8 or a static memref of f32, f16 or i32, got memref<4xf64>
func.func @alloc_of_f64() {
  %b = launch.alloc : memref<4xf64>
  func.return
}

// -----

// CHECK: sym_name = "alloc_of_rows"
// CHECK: | Operation does not verify: launch.alloc: expected !tgraph.q8 or a static memref of f32, f16 or i32, got !tgraph.rows<f32, 8x2>
func.func @alloc_of_rows() {
  %b = launch.alloc : !tgraph.rows<f32, 8x2>
  func.return
}

// -----

// CHECK: sym_name = "view_of_indices_as_values"
// CHECK: | Operation does not verify: launch.view result: expected a static memref<Nxi32>, got memref<1x4xf32>
func.func @view_of_indices_as_values(%x: memref<4xi32>) {
  %v = launch.view %x offset 0 covers [] : memref<4xi32> -> memref<1x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_of_quantized_rows"
// CHECK: | Operation does not verify: launch.view x: expected a static memref<RxWxf32>, got !tgraph.q8<1x32>
func.func @view_of_quantized_rows(%x: !tgraph.q8<1x32>) {
  %v = launch.view %x offset 0 covers [] : !tgraph.q8<1x32> -> memref<1x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_as_a_vector"
// CHECK: | Operation does not verify: launch.view result: expected a static memref<RxWxf32>, got memref<4xf32>
func.func @view_as_a_vector(%x: memref<2x4xf32>) {
  %v = launch.view %x offset 0 covers [] : memref<2x4xf32> -> memref<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_past_the_end"
// CHECK: | Operation does not verify: launch.view offset: expected 0 to 4 (4 of 8 values), got 5
func.func @view_past_the_end(%x: memref<2x4xf32>) {
  %v = launch.view %x offset 5 covers [] : memref<2x4xf32> -> memref<1x4xf32>
  func.return
}

// -----

// view_offset_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
func.func @view_offset_that_would_wrap(%x: memref<2x4xf32>) {
  %v = launch.view %x offset 9223372036854775808 covers [] : memref<2x4xf32> -> memref<1x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_of_more_than_there_is"
// CHECK: | Operation does not verify: launch.view result: expected at most x's 8 values, got 12
func.func @view_of_more_than_there_is(%x: memref<2x4xf32>) {
  %v = launch.view %x offset 0 covers [] : memref<2x4xf32> -> memref<3x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "copy_of_rows"
// CHECK: | Operation does not verify: launch.copy x: expected !tgraph.q8 or a static memref of f32, f16 or i32, got !tgraph.rows<f32, 8x2>
func.func @copy_of_rows(%x: !tgraph.rows<f32, 8x2>) {
  launch.copy(x = %x : !tgraph.rows<f32, 8x2>, out = %x : !tgraph.rows<f32, 8x2>) covers []
  func.return
}

// -----

// CHECK: sym_name = "copy_to_another_type"
// CHECK: | Operation does not verify: launch.copy out: expected memref<4xf32>, got memref<4xi32>
func.func @copy_to_another_type(%x: memref<4xf32>, %y: memref<4xi32>) {
  launch.copy(x = %x : memref<4xf32>, out = %y : memref<4xi32>) covers []
  func.return
}

// -----

// CHECK: sym_name = "rows_by_another_view"
// CHECK: | Operation does not verify: launch.constant: expected a view of 8 rows for a constant of 8x4, got one of 6
func.func @rows_by_another_view() {
  %c = launch.constant #tgraph.checkpoint<"w", rows offset 0 sizes [6] strides [1]> : !tgraph.rows<f32, 8x4>
  func.return
}

// -----

// CHECK: sym_name = "values_by_another_view"
// CHECK: | Operation does not verify: launch.constant: expected a view of 8 values for a constant of 8, got one of 6
func.func @values_by_another_view() {
  %c = launch.constant #tgraph.checkpoint<"w", values offset 0 sizes [6] strides [1]> : memref<8xf32>
  func.return
}
