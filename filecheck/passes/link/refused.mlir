// RUN: lanelink-opt %s -p link --split-input-file --verify-diagnostics | filecheck %s

// unnumbered
// CHECK: model.layers.0: link tgraph.silu: expected numbered ops (number-ops), got one without
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32> loc("model.layers.0")
  func.return %y : tensor<1x32xf32>
}

// -----

// another_dialects_op
// CHECK: link builtin.unrealized_conversion_cast: expected lifted ops, fused ops and constants in a step
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = builtin.unrealized_conversion_cast %x : tensor<1x32xf32> to tensor<1x32xf32>
  %z = tgraph.silu %y number 0 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %z : tensor<1x32xf32>
}

// -----

// op_the_target_has_no_kernel_for
// CHECK: link tgraph.fused_row: expected an rms norm, got softmax
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = tgraph.fused_row softmax %x cols 32 number 0 : tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// -----

// numbers_that_repeat
// CHECK: step @step: expected each lifted op covered by one launch, got several for [0]
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = tgraph.silu %x number 0 : tensor<1x32xf32> -> tensor<1x32xf32>
  %z = tgraph.silu %y number 0 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %z : tensor<1x32xf32>
}

// -----

// no_step
// CHECK: expected one function with a tgraph.token argument, got 0
func.func @step(%x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  func.return %x : tensor<1x32xf32>
}

// -----

// two_steps
// CHECK: expected one function with a tgraph.token argument, got 2
func.func @step(%token: tensor<1xi32> {tgraph.token}) {
  func.return
}
func.func @other(%token: tensor<1xi32> {tgraph.token}) {
  func.return
}

// -----

// argument_that_is_no_buffer
// CHECK: link func.func argument 1: expected a tensor, rows or quantized activations, got index
func.func @step(%token: tensor<1xi32> {tgraph.token}, %k: index) {
  func.return
}
