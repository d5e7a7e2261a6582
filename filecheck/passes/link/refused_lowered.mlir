// RUN: lanelink-opt %s -p lanelink,link --verify-diagnostics | filecheck %s

// CHECK: link: expected a step of tensors, got driver calls: it is lowered already
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32> {tgraph.state = "x"}) -> (tensor<1x32xf32> {tgraph.carry = 1 : i64}) {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}
