// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "constant_of_integers"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got tensor<4xi32>
func.func @constant_of_integers() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : tensor<4xi32>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_doubles"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got tensor<4xf64>
func.func @constant_of_doubles() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : tensor<4xf64>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_any_size"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got tensor<?xf32>
func.func @constant_of_any_size() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : tensor<?xf32>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_no_values"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got tensor<0xf32>
func.func @constant_of_no_values() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : tensor<0xf32>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_a_scalar"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got f32
func.func @constant_of_a_scalar() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : f32
  func.return
}

// -----

// CHECK: sym_name = "constant_of_quantized_rows"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got !tgraph.q8<1x32>
func.func @constant_of_quantized_rows() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.q8<1x32>
  func.return
}

// -----

// CHECK: sym_name = "constant_of_any_rank"
// CHECK: | Operation does not verify: constant: expected !tgraph.rows or a static tensor<...xf32>, got tensor<*xf32>
func.func @constant_of_any_rank() {
  %0 = tgraph.constant #tgraph.checkpoint<"w"> : tensor<*xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_table_as_rows"
// CHECK: | Operation does not verify: constant: expected a rotation table as tensor<PxHxf32>, got !tgraph.rows<f32, 8x2>
func.func @rope_table_as_rows() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : !tgraph.rows<f32, 8x2>
  func.return
}

// -----

// CHECK: sym_name = "rope_table_of_another_width"
// CHECK: | Operation does not verify: constant: expected tensor<Px2xf32> for a table of 2 frequencies, got tensor<8x3xf32>
func.func @rope_table_of_another_width() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : tensor<8x3xf32>
  func.return
}

// -----

// CHECK: sym_name = "rope_table_of_one_dimension"
// CHECK: | Operation does not verify: constant: expected tensor<Px2xf32> for a table of 2 frequencies, got tensor<2xf32>
func.func @rope_table_of_one_dimension() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: sym_name = "constant_from_a_string"
// CHECK: | Operation does not verify: Unexpected attribute "w"
func.func @constant_from_a_string() {
  %0 = "tgraph.constant"() <{source = "w"}> : () -> tensor<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "constant_from_nowhere"
// CHECK: | Operation does not verify: property 'source' expected in operation 'tgraph.constant'
func.func @constant_from_nowhere() {
  %0 = "tgraph.constant"() : () -> tensor<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_by_a_view_of_fewer"
// CHECK: | Operation does not verify: constant: expected a view of 8 rows for a constant of 8x4, got one of 6
func.func @rows_by_a_view_of_fewer() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2, 3] strides [4, 1]> : !tgraph.rows<bf16, 8x4>
  func.return
}

// -----

// CHECK: sym_name = "rows_by_a_view_of_more_values"
// CHECK: | Operation does not verify: constant: expected a view of 32 values for a constant of 8x4, got one of 40
func.func @rows_by_a_view_of_more_values() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", values offset 0 sizes [8, 5] strides [8, 1]> : !tgraph.rows<bf16, 8x4>
  func.return
}

// -----

// CHECK: sym_name = "values_by_a_view_of_rows"
// CHECK: | Operation does not verify: constant: expected a view of 1 rows for a constant of 4, got one of 4
func.func @values_by_a_view_of_rows() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [4] strides [1]> : tensor<4xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_that_are_adjusted"
// CHECK: | Operation does not verify: constant: expected plus_one of plain values, got it of rows
func.func @rows_that_are_adjusted() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", plus_one> : !tgraph.rows<bf16, 8x4>
  func.return
}
