// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: func.func private @rows_of_no_rows(!tgraph.rows<bf16, 0x64>)
// CHECK: rows: expected a matrix of at least 1x1, got 0x64
func.func private @rows_of_no_rows(!tgraph.rows<bf16, 0x64>)

// -----

// CHECK: func.func private @rows_of_no_columns(!tgraph.rows<bf16, 64x0>)
// CHECK: rows: expected a matrix of at least 1x1, got 64x0
func.func private @rows_of_no_columns(!tgraph.rows<bf16, 64x0>)

// -----

// CHECK: func.func private @rows_of_any_size(!tgraph.rows<bf16, ?x64>)
// CHECK: expected two numbers as dimensions, got ?
func.func private @rows_of_any_size(!tgraph.rows<bf16, ?x64>)

// -----

// CHECK: func.func private @rows_in_parts_of_a_block(!tgraph.rows<q4_k, 4x128>)
// CHECK: rows: expected columns a multiple of 256 (a q4_k block), got 128
func.func private @rows_in_parts_of_a_block(!tgraph.rows<q4_k, 4x128>)

// -----

// CHECK: func.func private @rows_of_one_dimension(!tgraph.rows<bf16, 64>)
// CHECK: expected two dimensions, got 1
func.func private @rows_of_one_dimension(!tgraph.rows<bf16, 64>)

// -----

// CHECK: func.func private @rows_of_three_dimensions(!tgraph.rows<bf16, 2x3x4>)
// CHECK: expected two dimensions, got 3
func.func private @rows_of_three_dimensions(!tgraph.rows<bf16, 2x3x4>)

// -----

// CHECK: func.func private @rows_of_negative_size(!tgraph.rows<bf16, -1x64>)
// CHECK: expected two dimensions, got 0
func.func private @rows_of_negative_size(!tgraph.rows<bf16, -1x64>)

// -----

// CHECK: func.func private @rows_of_an_unknown_format(!tgraph.rows<bf17, 4x64>)
// CHECK: Expected `f32`, `f16`, `bf16`, `q8_0`, `q4_0`, `q4_k`, `q5_k`, `q6_k`, or `mxfp4`.
func.func private @rows_of_an_unknown_format(!tgraph.rows<bf17, 4x64>)

// -----

// CHECK: func.func private @rows_with_another_word(!tgraph.rows<bf16, 4x64, flipped>)
// CHECK: Expected 'transposed'
func.func private @rows_with_another_word(!tgraph.rows<bf16, 4x64, flipped>)

// -----

// CHECK: func.func private @rows_of_nothing(!tgraph.rows)
// CHECK: '<' expected
func.func private @rows_of_nothing(!tgraph.rows)

// -----

// CHECK: func.func private @q8_of_no_rows(!tgraph.q8<0x32>)
// CHECK: q8: expected rows of a multiple of 32 values, got 0x32
func.func private @q8_of_no_rows(!tgraph.q8<0x32>)

// -----

// CHECK: func.func private @q8_of_no_values(!tgraph.q8<1x0>)
// CHECK: q8: expected rows of a multiple of 32 values, got 1x0
func.func private @q8_of_no_values(!tgraph.q8<1x0>)

// -----

// CHECK: func.func private @q8_in_parts_of_a_block(!tgraph.q8<2x48>)
// CHECK: q8: expected rows of a multiple of 32 values, got 2x48
func.func private @q8_in_parts_of_a_block(!tgraph.q8<2x48>)

// -----

// CHECK: func.func private @q8_with_another_word(!tgraph.q8<2x32, three_plane>)
// CHECK: Expected 'two_plane'
func.func private @q8_with_another_word(!tgraph.q8<2x32, three_plane>)

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<""> : tensor<2xf32>
// CHECK: checkpoint: expected a tensor's name, got an empty string
func.func @checkpoint_without_a_name() {
  %0 = tgraph.constant #tgraph.checkpoint<""> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<3> : tensor<2xf32>
// CHECK: string literal expected
func.func @checkpoint_by_number() {
  %0 = tgraph.constant #tgraph.checkpoint<3> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint : tensor<2xf32>
// CHECK: '<' expected
func.func @checkpoint_of_nothing() {
  %0 = tgraph.constant #tgraph.checkpoint : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a", "b"> : tensor<2xf32>
// CHECK: Expected `rows`, or `values`
func.func @checkpoint_of_two_names() {
  %0 = tgraph.constant #tgraph.checkpoint<"a", "b"> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a\FF"> : tensor<2xf32>
// CHECK: expected UTF-8 in a string, got byte 0xff at 1
func.func @checkpoint_past_utf8() {
  %0 = tgraph.constant #tgraph.checkpoint<"a\FF"> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<cos, [], scale 1.0> : tensor<2xf32>
// CHECK: rope_table: expected at least one frequency, got none
func.func @rope_table_without_frequencies() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<tan, [1.0], scale 1.0> : tensor<2xf32>
// CHECK: Expected `cos`, or `sin`.
func.func @rope_table_of_a_tangent() {
  %0 = tgraph.constant #tgraph.rope_table<tan, [1.0], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<cos, [1.0, -1.0], scale 1.0> : tensor<2xf32>
// CHECK: rope_table frequency: expected 0 to 65536, got -1.0
func.func @rope_table_turning_back() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [1.0, -1.0], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<cos, [65536.0078125], scale 1.0> : tensor<2xf32>
// CHECK: rope_table frequency: expected 0 to 65536, got 65536.0078125
func.func @rope_table_turning_too_fast() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [65536.0078125], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<cos, [0x7f800000], scale 1.0> : tensor<2xf32>
// CHECK: rope_table frequency: expected 0 to 65536, got inf
func.func @rope_table_turning_without_end() {
  %0 = tgraph.constant #tgraph.rope_table<cos, [0x7f800000], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<sin, [0x7fc00000], scale 1.0> : tensor<2xf32>
// CHECK: rope_table frequency: expected 0 to 65536, got nan
func.func @rope_table_turning_by_nan() {
  %0 = tgraph.constant #tgraph.rope_table<sin, [0x7fc00000], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<sin, [1.0], scale -2.0> : tensor<2xf32>
// CHECK: rope_table scale: expected 0 to 65536, got -2.0
func.func @rope_table_of_a_negative_scale() {
  %0 = tgraph.constant #tgraph.rope_table<sin, [1.0], scale -2.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<sin, [999999999999
// CHECK: expected a number that f32 can be rounded from, got an integer past any float
func.func @rope_table_past_every_float() {
  %0 = tgraph.constant #tgraph.rope_table<sin, [9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<sin, [0x7ff0000000000000], scale 1.0> : tensor<2xf32>
// CHECK: expected the 32 bits of an f32, got 0x7ff0000000000000
func.func @rope_table_of_too_many_bits() {
  %0 = tgraph.constant #tgraph.rope_table<sin, [0x7ff0000000000000], scale 1.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.rope_table<sin, [1.0], 2.0> : tensor<2xf32>
// CHECK: Expected 'scale'
func.func @rope_table_of_no_scale() {
  %0 = tgraph.constant #tgraph.rope_table<sin, [1.0], 2.0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a.*", tensors 0> : tensor<2xf32>
// CHECK: checkpoint tensors: expected 1 to 65536, got 0
func.func @checkpoint_tensors_of_none() {
  %0 = tgraph.constant #tgraph.checkpoint<"a.*", tensors 0> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a.*", tensors 65537> : tensor<2xf32>
// CHECK: checkpoint tensors: expected 1 to 65536, got 65537
func.func @checkpoint_tensors_past_the_most() {
  %0 = tgraph.constant #tgraph.checkpoint<"a.*", tensors 65537> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a", tensors 2> : tensor<2xf32>
// CHECK: checkpoint tensors: expected one * in the name for their number, got "a"
func.func @checkpoint_tensors_without_a_place_for_their_number() {
  %0 = tgraph.constant #tgraph.checkpoint<"a", tensors 2> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"a.*.*", tensors 2> : tensor<2xf32>
// CHECK: checkpoint tensors: expected one * in the name for their number, got "a.*.*"
func.func @checkpoint_tensors_with_two_places() {
  %0 = tgraph.constant #tgraph.checkpoint<"a.*.*", tensors 2> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [] strides []> : tensor<2xf32>
// CHECK: stored_view: expected as many strides as sizes, and one at least, got 0 sizes and 0 strides
func.func @view_without_sizes() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [] strides []> : tensor<2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2, 2] strides [2]> : tensor<4x2xf32>
// CHECK: stored_view: expected as many strides as sizes, and one at least, got 2 sizes and 1 strides
func.func @view_of_fewer_strides() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2, 2] strides [2]> : tensor<4x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2, 0] strides [2, 1]> : tensor<4x2xf32>
// CHECK: stored_view sizes: expected at least 1 each, got [2, 0]
func.func @view_of_a_zero_size() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2, 0] strides [2, 1]> : tensor<4x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 8 sizes [2, 2] strides [2, -1]> : tensor<4x2xf32>
// CHECK: stored_view strides: expected at least 1 each, got [2, -1]
func.func @view_of_a_negative_stride() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 8 sizes [2, 2] strides [2, -1]> : tensor<4x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset -1 sizes [2] strides [1]> : tensor<2x2xf32>
// CHECK: stored_view offset: expected at least 0, got -1
func.func @view_from_before_the_start() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset -1 sizes [2] strides [1]> : tensor<2x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2] strides [18446744073709551615]> : tensor<2x2xf32>
// CHECK: stored_view: expected units up to 2^62, got 18446744073709551615
func.func @view_that_wraps() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [2] strides [18446744073709551615]> : tensor<2x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [4294967296, 4294967296] strides [1, 1]> : tensor<2x2xf32>
// CHECK: stored_view: expected units up to 2^62, got 18446744073709551616
func.func @view_whose_product_wraps() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", rows offset 0 sizes [4294967296, 4294967296] strides [1, 1]> : tensor<2x2xf32>
  func.return
}

// -----

// CHECK: %0 = tgraph.constant #tgraph.checkpoint<"w", plus_two> : tensor<2xf32>
// CHECK: Expected `rows`, or `values`
func.func @adjustment_of_another_name() {
  %0 = tgraph.constant #tgraph.checkpoint<"w", plus_two> : tensor<2xf32>
  func.return
}
