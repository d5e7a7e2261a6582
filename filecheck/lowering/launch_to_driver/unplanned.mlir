// RUN: lanelink-opt %s --split-input-file --verify-diagnostics -p lower-to-driver | filecheck %s

// CHECK: lower-to-driver: expected buffers laid out by plan-buffers (launch.arena), got none
func.func @step(%token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 0 : i64} {
  func.return
}

// -----

// CHECK: lower-to-driver: expected an offset of plan-buffers, got none (memref<1x64xf32>)
func.func @step(%token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 0 : i64, launch.arena = 256 : i64} {
  %a = launch.alloc : memref<1x64xf32>
  func.return
}

// -----

// CHECK: step @step: expected one tgraph.token argument and at most one tgraph.position, got 1 and 2
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %a: memref<1xi32> {tgraph.position},
  %b: memref<1xi32> {tgraph.position}) attributes {launch.lifted = 0 : i64, launch.arena = 0 : i64} {
  func.return
}

// -----

// CHECK: lower-to-driver: expected a step of launches, got tensors: link it, and plan its buffers, before
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// -----

// CHECK: lower-to-driver: expected a step of launches, got driver calls: it is lowered already
driver.step @step rows 1 {
  %t = driver.io token bytes 4
  driver.return
}
