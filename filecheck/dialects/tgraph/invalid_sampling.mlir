// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "arg_max_of_a_vector"
// CHECK: | Operation does not verify: arg_max x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @arg_max_of_a_vector(%x: tensor<64xf32>) {
  %t = tgraph.arg_max %x : tensor<64xf32> -> tensor<3xi32>
  func.return
}

// -----

// CHECK: sym_name = "arg_max_of_integers"
// CHECK: | Operation does not verify: arg_max x: expected a static tensor<RxWxf32>, got tensor<3x256xi32>
func.func @arg_max_of_integers(%x: tensor<3x256xi32>) {
  %t = tgraph.arg_max %x : tensor<3x256xi32> -> tensor<3xi32>
  func.return
}

// -----

// CHECK: sym_name = "arg_max_to_floats"
// CHECK: | Operation does not verify: arg_max result: expected tensor<Nxi32>, got tensor<3xf32>
func.func @arg_max_to_floats(%x: tensor<3x256xf32>) {
  %t = tgraph.arg_max %x : tensor<3x256xf32> -> tensor<3xf32>
  func.return
}

// -----

// CHECK: sym_name = "arg_max_to_fewer"
// CHECK: | Operation does not verify: arg_max result: expected 3, got 1
func.func @arg_max_to_fewer(%x: tensor<3x256xf32>) {
  %t = tgraph.arg_max %x : tensor<3x256xf32> -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_by_nothing"
// CHECK: | Operation does not verify: advance by: expected 1 to 2147483647, got 0
func.func @advance_by_nothing(%p: tensor<1xi32>) {
  %n = tgraph.advance %p by 0 : (tensor<1xi32>) -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_backwards"
// CHECK: | Operation does not verify: advance by: expected 1 to 2147483647, got -1
func.func @advance_backwards(%p: tensor<1xi32>) {
  %n = tgraph.advance %p by -1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_past_i32"
// CHECK: | Operation does not verify: advance by: expected 1 to 2147483647, got 2147483648
func.func @advance_past_i32(%p: tensor<1xi32>) {
  %n = tgraph.advance %p by 2147483648 : (tensor<1xi32>) -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_of_a_float"
// CHECK: | Operation does not verify: advance position: expected tensor<Nxi32>, got tensor<1xf32>
func.func @advance_of_a_float(%p: tensor<1xf32>) {
  %n = tgraph.advance %p by 1 : (tensor<1xf32>) -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_of_two_positions_to_one"
// CHECK: | Operation does not verify: advance result: expected 2, got 1
func.func @advance_of_two_positions_to_one(%p: tensor<2xi32>) {
  %n = tgraph.advance %p by 1 : (tensor<2xi32>) -> tensor<1xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_to_two_positions"
// CHECK: | Operation does not verify: advance result: expected 1, got 2
func.func @advance_to_two_positions(%p: tensor<1xi32>) {
  %n = tgraph.advance %p by 1 : (tensor<1xi32>) -> tensor<2xi32>
  func.return
}

// -----

// CHECK: sym_name = "advance_to_an_i64"
// CHECK: | Operation does not verify: advance result: expected tensor<Nxi32>, got tensor<1xi64>
func.func @advance_to_an_i64(%p: tensor<1xi32>) {
  %n = tgraph.advance %p by 1 : (tensor<1xi32>) -> tensor<1xi64>
  func.return
}

// -----

// CHECK: expected a number of at most 9223372036854775807, which an i64 holds, got 99999999999999999999
func.func @number_past_i64(%x: tensor<2x64xf32>) {
  %y = tgraph.silu %x number 99999999999999999999 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}
