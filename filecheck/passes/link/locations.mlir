// RUN: lanelink-opt %s -p number-ops,link --print-debuginfo | filecheck %s

// A launch is where the op it computes was; the function keeps its attributes, visibility and other results' marks.
// CHECK: func.func private @step(
// CHECK-SAME: memref<1x32xf32> {tgraph.logits}
// CHECK-SAME: attributes {note = "kept", launch.lifted = 2 : i64}
// CHECK: launch.unary(x = %x : memref<1x32xf32>, out = %y : memref<1x32xf32>) {act = #launch<act silu>} covers [0] loc("model.layers.0"("{{.*}}locations.mlir":{{[0-9]+}}:3))
// CHECK: launch.copy(x = %n : memref<1xi32>, out = %p : memref<1xi32>) covers []
func.func private @step(%token: tensor<1xi32> {tgraph.token}, %p: tensor<1xi32> {tgraph.position}, %x: tensor<1x32xf32>)
    -> (tensor<1xi32> {tgraph.carry = 1}, tensor<1x32xf32> {tgraph.logits}) attributes {note = "kept"} {
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32> loc("model.layers.0")
  %n = tgraph.advance %p by 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %n, %y : tensor<1xi32>, tensor<1x32xf32>
}
