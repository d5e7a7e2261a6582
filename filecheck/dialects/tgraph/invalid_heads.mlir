// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "join_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @join_of_no_heads(%a: tensor<2x64xf32>, %b: tensor<2x32xf32>) {
  %y = tgraph.join %a, %b heads 0 : (tensor<2x64xf32>, tensor<2x32xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_of_a_vector"
// CHECK: | Operation does not verify: join a: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @join_of_a_vector(%a: tensor<64xf32>, %b: tensor<2x32xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<64xf32>, tensor<2x32xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_to_a_vector"
// CHECK: | Operation does not verify: join b: expected a static tensor<RxWxf32>, got tensor<32xf32>
func.func @join_to_a_vector(%a: tensor<2x64xf32>, %b: tensor<32xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<32xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_to_other_rows"
// CHECK: | Operation does not verify: join b rows: expected 2, got 1
func.func @join_to_other_rows(%a: tensor<2x64xf32>, %b: tensor<1x32xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<1x32xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_of_heads_that_do_not_divide_a"
// CHECK: | Operation does not verify: join heads: expected to divide rows of 66 and 32 values, got 4
func.func @join_of_heads_that_do_not_divide_a(%a: tensor<2x66xf32>, %b: tensor<2x32xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<2x66xf32>, tensor<2x32xf32>) -> tensor<2x98xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_of_heads_that_do_not_divide_b"
// CHECK: | Operation does not verify: join heads: expected to divide rows of 64 and 34 values, got 4
func.func @join_of_heads_that_do_not_divide_b(%a: tensor<2x64xf32>, %b: tensor<2x34xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<2x34xf32>) -> tensor<2x98xf32>
  func.return
}

// -----

// CHECK: sym_name = "join_of_a_result_of_one_part"
// CHECK: | Operation does not verify: join result: expected (2, 96), got (2, 64)
func.func @join_of_a_result_of_one_part(%a: tensor<2x64xf32>, %b: tensor<2x32xf32>) {
  %y = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<2x32xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_no_heads"
// CHECK: | Operation does not verify: heads: expected at least 1, got 0
func.func @head_matmul_of_no_heads(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 0 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_no_inputs"
// CHECK: | Operation does not verify: inputs: expected at least 1, got -1
func.func @head_matmul_of_no_inputs(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs -1 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_no_outputs"
// CHECK: | Operation does not verify: outputs: expected at least 1, got 0
func.func @head_matmul_of_no_outputs(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 0 : (tensor<2x64xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_a_vector"
// CHECK: | Operation does not verify: head_matmul x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @head_matmul_of_a_vector(%x: tensor<64xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<64xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_a_wider_row"
// CHECK: | Operation does not verify: head_matmul x width: 4 heads of 16: expected 64, got 80
func.func @head_matmul_of_a_wider_row(%x: tensor<2x80xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x80xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_by_rows_that_are_not_outputs"
// CHECK: | Operation does not verify: head_matmul weight: expected (96, 16), got (64, 24)
func.func @head_matmul_by_rows_that_are_not_outputs(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 64x24, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x24, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_by_rows_that_are_not_inputs"
// CHECK: | Operation does not verify: head_matmul weight: expected (64, 24), got (96, 16)
func.func @head_matmul_by_rows_that_are_not_inputs(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 96x16>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 96x16>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_by_values_of_outputs"
// CHECK: | Operation does not verify: head_matmul weight: expected (64, 24), got (96, 16)
func.func @head_matmul_by_values_of_outputs(%x: tensor<2x64xf32>, %w: tensor<96x16xf32>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, tensor<96x16xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_by_a_cube"
// CHECK: | Operation does not verify: head_matmul weight: expected a static tensor<RxWxf32>, got tensor<4x16x24xf32>
func.func @head_matmul_by_a_cube(%x: tensor<2x64xf32>, %w: tensor<4x16x24xf32>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, tensor<4x16x24xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_q8_by_plain_rows"
// CHECK: | Operation does not verify: head_matmul: expected rows of a block format over a quantized x, got !tgraph.rows<bf16, 96x16, transposed>
func.func @head_matmul_of_q8_by_plain_rows(%x: !tgraph.q8<2x64>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (!tgraph.q8<2x64>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_of_q8_by_values"
// CHECK: | Operation does not verify: head_matmul: expected rows of a block format over a quantized x, got tensor<64x24xf32>
func.func @head_matmul_of_q8_by_values(%x: !tgraph.q8<2x64>, %w: tensor<64x24xf32>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (!tgraph.q8<2x64>, tensor<64x24xf32>) -> tensor<2x96xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_matmul_to_another_width"
// CHECK: | Operation does not verify: head_matmul result: expected (2, 96), got (2, 64)
func.func @head_matmul_to_another_width(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 96x16, transposed>) {
  %y = tgraph.head_matmul %x, %w heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 96x16, transposed>) -> tensor<2x64xf32>
  func.return
}
