// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// The gated unit alone.

// CHECK-LABEL: func.func @swiglu(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.swiglu(gate = %x : memref<2x32xf32>, up = %y : memref<2x32xf32>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: func.return %a : memref<2x32xf32>
func.func @swiglu(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %a = tgraph.swiglu %x, %y : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  func.return %a : tensor<2x32xf32>
}
