// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// The choice a row, and the advance alone.

// The position moved on goes where the next step finds it.
// CHECK-LABEL: func.func @arg_max(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t = launch.alloc : memref<2xi32>
// CHECK-NEXT: launch.arg_max(x = %x : memref<2x32xf32>, out = %t : memref<2xi32>) covers [0]
// CHECK-NEXT: %n = launch.alloc : memref<1xi32>
// CHECK-NEXT: launch.advance(x = %p : memref<1xi32>, out = %n : memref<1xi32>) {by = 2 : i64} covers [1]
// CHECK-NEXT: launch.copy(x = %n : memref<1xi32>, out = %p : memref<1xi32>) covers []
// CHECK-NEXT: func.return %t : memref<2xi32>
func.func @arg_max(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<2xi32>, tensor<1xi32> {tgraph.carry = 2}) {
  %t = tgraph.arg_max %x : tensor<2x32xf32> -> tensor<2xi32>
  %n = tgraph.advance %p by 2 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %t, %n : tensor<2xi32>, tensor<1xi32>
}
