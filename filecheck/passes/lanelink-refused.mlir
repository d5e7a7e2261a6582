// RUN: lanelink-opt %s -p lanelink --split-input-file --verify-diagnostics | filecheck %s

// argument_without_a_meaning
// CHECK: model.layers.0: step @step argument 1: expected tgraph.token, tgraph.position or tgraph.state, got tensor<1x32xf32> without any
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32> loc("model.layers.0")
  func.return %y : tensor<1x32xf32>
}

// -----

// argument_that_nothing_reads
// CHECK: step @step argument 1: expected tgraph.token, tgraph.position or tgraph.state, got tensor<2xi32> without any
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<2xi32>) {
  func.return
}

// -----

// step_of_launches
// CHECK: lanelink: expected a step of tensors (level 1 or 2), got launches (level 3)
func.func @step(%token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 0 : i64} {
  func.return
}

// -----

// no_step
// CHECK: expected one function with a tgraph.token argument, got 0
func.func @other() {
  func.return
}
