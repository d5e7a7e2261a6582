// RUN: lanelink-opt %s --verify-diagnostics -p link | filecheck %s

// CHECK: link: expected a step of tensors, got launches: it is linked already
func.func @step(%token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 0 : i64} {
  func.return
}
