// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "row_gather_of_transposed_rows"
// CHECK: | Operation does not verify: row_gather table: expected rows that are not transposed, got !tgraph.rows<bf16, 8x64, transposed>
func.func @row_gather_of_transposed_rows(%t: !tgraph.rows<bf16, 8x64, transposed>, %i: tensor<1xi32>) {
  %x = tgraph.row_gather %t at %i : (!tgraph.rows<bf16, 8x64, transposed>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_of_a_vector"
// CHECK: | Operation does not verify: row_gather table: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @row_gather_of_a_vector(%t: tensor<64xf32>, %i: tensor<1xi32>) {
  %x = tgraph.row_gather %t at %i : (tensor<64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_of_no_row"
// CHECK: | Operation does not verify: row_gather: expected either an index operand or a fixed row, got neither
func.func @row_gather_of_no_row(%t: tensor<8x64xf32>) {
  %x = tgraph.row_gather %t : (tensor<8x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_of_two_rows"
// CHECK: | Operation does not verify: row_gather: expected either an index operand or a fixed row, got both
func.func @row_gather_of_two_rows(%t: tensor<8x64xf32>, %i: tensor<1xi32>) {
  %x = tgraph.row_gather %t at %i row 3 : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_past_the_end"
// CHECK: | Operation does not verify: row_gather row: expected 0 to 7 in a table of 8 rows, got 8
func.func @row_gather_past_the_end(%t: tensor<8x64xf32>) {
  %x = tgraph.row_gather %t row 8 : (tensor<8x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_before_the_start"
// CHECK: | Operation does not verify: row_gather row: expected 0 to 7 in a table of 8 rows, got -1
func.func @row_gather_before_the_start(%t: !tgraph.rows<bf16, 8x64>) {
  %x = tgraph.row_gather %t row -1 : (!tgraph.rows<bf16, 8x64>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_to_another_width"
// CHECK: | Operation does not verify: row_gather result: expected (1, 64), got (1, 32)
func.func @row_gather_to_another_width(%t: tensor<8x64xf32>, %i: tensor<1xi32>) {
  %x = tgraph.row_gather %t at %i : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "row_gather_to_several_rows"
// CHECK: | Operation does not verify: row_gather result: expected (1, 64), got (2, 64)
func.func @row_gather_to_several_rows(%t: tensor<8x64xf32>, %i: tensor<1xi32>) {
  %x = tgraph.row_gather %t at %i : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: Expected attribute tensor<1xi32> but got tensor<2xi32>
func.func @row_gather_by_two_indices(%t: tensor<8x64xf32>, %i: tensor<2xi32>) {
  %x = tgraph.row_gather %t at %i : (tensor<8x64xf32>, tensor<2xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_of_transposed_rows"
// CHECK: | Operation does not verify: rows_gather table: expected rows that are not transposed, got !tgraph.rows<bf16, 8x64, transposed>
func.func @rows_gather_of_transposed_rows(%t: !tgraph.rows<bf16, 8x64, transposed>, %i: tensor<1xi32>) {
  %x = tgraph.rows_gather %t at %i : (!tgraph.rows<bf16, 8x64, transposed>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_of_integers"
// CHECK: | Operation does not verify: rows_gather table: expected a static tensor<RxWxf32>, got tensor<8x64xi32>
func.func @rows_gather_of_integers(%t: tensor<8x64xi32>, %i: tensor<1xi32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xi32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_by_floats"
// CHECK: | Operation does not verify: rows_gather index: expected tensor<Nxi32>, got tensor<2xf32>
func.func @rows_gather_by_floats(%t: tensor<8x64xf32>, %i: tensor<2xf32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<2xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_by_a_matrix"
// CHECK: | Operation does not verify: rows_gather index: expected tensor<Nxi32>, got tensor<1x2xi32>
func.func @rows_gather_by_a_matrix(%t: tensor<8x64xf32>, %i: tensor<1x2xi32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<1x2xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_by_any_number"
// CHECK: | Operation does not verify: rows_gather index: expected tensor<Nxi32>, got tensor<?xi32>
func.func @rows_gather_by_any_number(%t: tensor<8x64xf32>, %i: tensor<?xi32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<?xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_by_nothing"
// CHECK: | Operation does not verify: rows_gather index: expected tensor<Nxi32>, got tensor<0xi32>
func.func @rows_gather_by_nothing(%t: tensor<8x64xf32>, %i: tensor<0xi32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<0xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_by_i64"
// CHECK: | Operation does not verify: rows_gather index: expected tensor<Nxi32>, got tensor<2xi64>
func.func @rows_gather_by_i64(%t: tensor<8x64xf32>, %i: tensor<2xi64>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<2xi64>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_gather_to_other_rows"
// CHECK: | Operation does not verify: rows_gather result: expected (2, 64), got (1, 64)
func.func @rows_gather_to_other_rows(%t: tensor<8x64xf32>, %i: tensor<2xi32>) {
  %x = tgraph.rows_gather %t at %i : (tensor<8x64xf32>, tensor<2xi32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_a_constant_matrix"
// CHECK: | Operation does not verify: set_row table: expected a static tensor<RxWxf32> or tensor<RxWxf16>, got !tgraph.rows<bf16, 8x64>
func.func @set_row_of_a_constant_matrix(%t: !tgraph.rows<bf16, 8x64>, %x: tensor<1x64xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i : (!tgraph.rows<bf16, 8x64>, tensor<1x64xf32>, tensor<1xi32>) -> !tgraph.rows<bf16, 8x64>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_a_vector"
// CHECK: | Operation does not verify: set_row source: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @set_row_of_a_vector(%t: tensor<8x64xf32>, %x: tensor<64xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_another_width"
// CHECK: | Operation does not verify: set_row source width against the table's: expected 64, got 32
func.func @set_row_of_another_width(%t: tensor<8x64xf32>, %x: tensor<1x32xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<1x32xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_too_many_rows"
// CHECK: | Operation does not verify: set_row source: expected at most the table's 8 rows, got 9
func.func @set_row_of_too_many_rows(%t: tensor<8x64xf32>, %x: tensor<9x64xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<9x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_no_row"
// CHECK: | Operation does not verify: set_row: expected either an index operand or a fixed row, got neither
func.func @set_row_of_no_row(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>) {
  %u = tgraph.set_row %t, %x : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_of_two_rows"
// CHECK: | Operation does not verify: set_row: expected either an index operand or a fixed row, got both
func.func @set_row_of_two_rows(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i row 0 : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_past_the_end"
// CHECK: | Operation does not verify: set_row row: expected 0 to 6 in a table of 8 rows, got 7
func.func @set_row_past_the_end(%t: tensor<8x64xf32>, %x: tensor<2x64xf32>) {
  %u = tgraph.set_row %t, %x row 7 : (tensor<8x64xf32>, tensor<2x64xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_before_the_start"
// CHECK: | Operation does not verify: set_row row: expected 0 to 7 in a table of 8 rows, got -1
func.func @set_row_before_the_start(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>) {
  %u = tgraph.set_row %t, %x row -1 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "set_row_to_another_table"
// CHECK: | Operation does not verify: set_row result: expected tensor<8x64xf32>, got tensor<4x64xf32>
func.func @set_row_to_another_table(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>, %i: tensor<1xi32>) {
  %u = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<4x64xf32>
  func.return
}

// -----

// CHECK: Expected attribute tensor<1xi32> but got tensor<2xi32>
func.func @set_row_by_two_indices(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>, %i: tensor<2xi32>) {
  %u = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<2xi32>) -> tensor<8x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "rows_of_f16_set"
// CHECK: | Operation does not verify: set_row source: expected a static tensor<RxWxf32>, got tensor<1x64xf16>
func.func @rows_of_f16_set(%t: tensor<32x64xf16>, %r: tensor<1x64xf16>, %p: tensor<1xi32>) {
  %0 = tgraph.set_row %t, %r at %p : (tensor<32x64xf16>, tensor<1x64xf16>, tensor<1xi32>) -> tensor<32x64xf16>
  func.return
}

// -----

// CHECK: sym_name = "a_table_set_to_another_type"
// CHECK: | Operation does not verify: set_row result: expected tensor<32x64xf16>, got tensor<32x64xf32>
func.func @a_table_set_to_another_type(%t: tensor<32x64xf16>, %r: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %0 = tgraph.set_row %t, %r at %p : (tensor<32x64xf16>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<32x64xf32>
  func.return
}
