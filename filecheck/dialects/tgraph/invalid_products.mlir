// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "matmul_of_doubles"
// CHECK: | Operation does not verify: matmul x: expected a static tensor<RxWxf32>, got tensor<2x64xf64>
func.func @matmul_of_doubles(%x: tensor<2x64xf64>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf64>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_of_a_vector"
// CHECK: | Operation does not verify: matmul x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @matmul_of_a_vector(%x: tensor<64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_of_any_rows"
// CHECK: | Operation does not verify: matmul x: expected a static tensor<RxWxf32>, got tensor<?x64xf32>
func.func @matmul_of_any_rows(%x: tensor<?x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<?x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_by_a_vector"
// CHECK: | Operation does not verify: matmul weight: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @matmul_by_a_vector(%x: tensor<2x64xf32>, %w: tensor<64xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_by_quantized_rows"
// CHECK: | Operation does not verify: matmul weight: expected a static tensor<RxWxf32>, got !tgraph.q8<64x32>
func.func @matmul_by_quantized_rows(%x: tensor<2x64xf32>, %w: !tgraph.q8<64x32>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.q8<64x32>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_of_another_depth"
// CHECK: | Operation does not verify: matmul inner dimension: the weight's against x's: expected 48, got 64
func.func @matmul_of_another_depth(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x48, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x48, transposed>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_by_rows_not_transposed"
// CHECK: | Operation does not verify: matmul inner dimension: the weight's against x's: expected 32, got 64
func.func @matmul_by_rows_not_transposed(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_with_another_width"
// CHECK: | Operation does not verify: matmul result: expected (2, 32), got (2, 64)
func.func @matmul_with_another_width(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_with_other_rows"
// CHECK: | Operation does not verify: matmul result: expected (2, 32), got (1, 32)
func.func @matmul_with_other_rows(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_giving_integers"
// CHECK: | Operation does not verify: matmul result: expected a static tensor<RxWxf32>, got tensor<2x32xi32>
func.func @matmul_giving_integers(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xi32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_of_quantized_rows_by_bf16"
// CHECK: | Operation does not verify: matmul: expected rows of a block format over a quantized x, got !tgraph.rows<bf16, 32x64, transposed>
func.func @matmul_of_quantized_rows_by_bf16(%x: !tgraph.q8<2x64>, %w: !tgraph.rows<bf16, 32x64, transposed>) {
  %y = tgraph.matmul %x, %w : (!tgraph.q8<2x64>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "matmul_of_quantized_rows_by_values"
// CHECK: | Operation does not verify: matmul: expected rows of a block format over a quantized x, got tensor<64x32xf32>
func.func @matmul_of_quantized_rows_by_values(%x: !tgraph.q8<2x64>, %w: tensor<64x32xf32>) {
  %y = tgraph.matmul %x, %w : (!tgraph.q8<2x64>, tensor<64x32xf32>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "quantize_of_halves"
// CHECK: | Operation does not verify: quantize x: expected a static tensor<RxWxf32>, got tensor<2x64xf16>
func.func @quantize_of_halves(%x: tensor<2x64xf16>) {
  %y = tgraph.quantize %x : tensor<2x64xf16> -> !tgraph.q8<2x64>
  func.return
}

// -----

// CHECK: sym_name = "quantize_to_other_rows"
// CHECK: | Operation does not verify: quantize result: expected (2, 64), got (1, 64)
func.func @quantize_to_other_rows(%x: tensor<2x64xf32>) {
  %y = tgraph.quantize %x : tensor<2x64xf32> -> !tgraph.q8<1x64>
  func.return
}

// -----

// CHECK: tensor<2x64xf32> should be of base attribute tgraph.q8
func.func @quantize_to_floats(%x: tensor<2x64xf32>) {
  %y = tgraph.quantize %x : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}
