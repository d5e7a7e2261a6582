// RUN: lanelink-opt %s -p lanelink,lanelink --verify-diagnostics | filecheck %s

// CHECK: lanelink: expected a step of tensors (level 1 or 2), got driver calls (level 4)
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32> {tgraph.state = "x"}) -> (tensor<1x32xf32> {tgraph.carry = 1 : i64}) {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}
