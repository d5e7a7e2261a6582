// RUN: not lanelink-opt %s -p legalize-shim 2>&1 | filecheck %s

// CHECK: unnumbered op tgraph.fused_row: expected an rms norm, got softmax
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %n = tgraph.fused_row softmax %x cols 32 : tensor<1x32xf32>
  func.return %n : tensor<1x32xf32>
}
