// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "int_requant_of_floats"
// CHECK: | Operation does not verify: int_requant x: expected a static tensor<RxWxi32>, got tensor<2x64xf32>
func.func @int_requant_of_floats(%x: tensor<2x64xf32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 1 zero_point 0 : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_by_nothing"
// CHECK: | Operation does not verify: int_requant multiplier: expected 1 to 2147483647, got 0
func.func @int_requant_by_nothing(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 0 shift 1 zero_point 0 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_by_more_than_31_bits"
// CHECK: | Operation does not verify: int_requant multiplier: expected 1 to 2147483647, got 2147483648
func.func @int_requant_by_more_than_31_bits(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 2147483648 shift 1 zero_point 0 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_to_the_left"
// CHECK: | Operation does not verify: int_requant shift: expected 0 to 62, got -1
func.func @int_requant_to_the_left(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift -1 zero_point 0 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_past_its_bits"
// CHECK: | Operation does not verify: int_requant shift: expected 0 to 62, got 63
func.func @int_requant_past_its_bits(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 63 zero_point 0 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_to_a_zero_below_i32"
// CHECK: | Operation does not verify: int_requant zero_point: expected an i32, got -2147483649
func.func @int_requant_to_a_zero_below_i32(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 1 zero_point -2147483649 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_to_a_zero_above_i32"
// CHECK: | Operation does not verify: int_requant zero_point: expected an i32, got 2147483648
func.func @int_requant_to_a_zero_above_i32(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 1 zero_point 2147483648 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_to_floats"
// CHECK: | Operation does not verify: int_requant result: expected a static tensor<RxWxi32>, got tensor<2x64xf32>
func.func @int_requant_to_floats(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 1 zero_point 0 : tensor<2x64xi32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "int_requant_to_another_width"
// CHECK: | Operation does not verify: int_requant result: expected (2, 64), got (2, 32)
func.func @int_requant_to_another_width(%x: tensor<2x64xi32>) {
  %y = tgraph.int_requant %x multiplier 3 shift 1 zero_point 0 : tensor<2x64xi32> -> tensor<2x32xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_clamp_of_floats"
// CHECK: | Operation does not verify: int_clamp x: expected a static tensor<RxWxi32>, got tensor<2x64xf32>
func.func @int_clamp_of_floats(%x: tensor<2x64xf32>) {
  %y = tgraph.int_clamp %x low -128 high 127 : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_clamp_of_bounds_that_cross"
// CHECK: | Operation does not verify: int_clamp: expected i32 bounds with low at most high, got 1 and 0
func.func @int_clamp_of_bounds_that_cross(%x: tensor<2x64xi32>) {
  %y = tgraph.int_clamp %x low 1 high 0 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_clamp_from_below_i32"
// CHECK: | Operation does not verify: int_clamp: expected i32 bounds with low at most high, got -2147483649 and 127
func.func @int_clamp_from_below_i32(%x: tensor<2x64xi32>) {
  %y = tgraph.int_clamp %x low -2147483649 high 127 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_clamp_to_above_i32"
// CHECK: | Operation does not verify: int_clamp: expected i32 bounds with low at most high, got -128 and 2147483648
func.func @int_clamp_to_above_i32(%x: tensor<2x64xi32>) {
  %y = tgraph.int_clamp %x low -128 high 2147483648 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "int_clamp_to_other_rows"
// CHECK: | Operation does not verify: int_clamp result: expected (2, 64), got (1, 64)
func.func @int_clamp_to_other_rows(%x: tensor<2x64xi32>) {
  %y = tgraph.int_clamp %x low -128 high 127 : tensor<2x64xi32> -> tensor<1x64xi32>
  func.return
}
