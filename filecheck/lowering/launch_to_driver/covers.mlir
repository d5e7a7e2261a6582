// RUN: xdsl-opt %s --verify-diagnostics -p plan-buffers,lower-to-driver | filecheck %s

// Under xDSL's own driver too, which verifies ops alone.
// CHECK: step @step: expected each lifted op covered by one launch, got none for [1]
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x64xf32> {tgraph.state = "x"}) -> (memref<1x64xf32> {tgraph.logits}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : memref<1x64xf32>
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return %y : memref<1x64xf32>
}
