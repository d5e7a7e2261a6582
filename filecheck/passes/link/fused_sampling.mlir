// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// The choice moves the step on, on the device.

// CHECK-LABEL: func.func @fused_sampling(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t = launch.alloc : memref<1xi32>
// CHECK-NEXT: launch.arg_max(x = %x : memref<1x32xf32>, out = %t : memref<1xi32>, token = %token : memref<1xi32>, position = %p : memref<1xi32>) covers [0, 1]
// CHECK-NEXT: func.return
func.func @fused_sampling(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 2}) {
  %n, %m = tgraph.fused fused_sampling(%a = %x : tensor<1x32xf32>, %q = %p : tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %t = tgraph.arg_max %a : tensor<1x32xf32> -> tensor<1xi32>
  %k = tgraph.advance %q by 1 : (tensor<1xi32>) -> tensor<1xi32>
  tgraph.yield %t, %k : tensor<1xi32>, tensor<1xi32>
  }
  func.return %n, %m : tensor<1xi32>, tensor<1xi32>
}

// -----

// In either order.
// CHECK-LABEL: func.func @advance_first(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t = launch.alloc : memref<1xi32>
// CHECK-NEXT: launch.arg_max(x = %x : memref<1x32xf32>, out = %t : memref<1xi32>, token = %token : memref<1xi32>, position = %p : memref<1xi32>) covers [0, 1]
// CHECK-NEXT: func.return
func.func @advance_first(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 2}) {
  %m, %n = tgraph.fused fused_sampling(%q = %p : tensor<1xi32>, %a = %x : tensor<1x32xf32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %k = tgraph.advance %q by 1 : (tensor<1xi32>) -> tensor<1xi32>
  %t = tgraph.arg_max %a : tensor<1x32xf32> -> tensor<1xi32>
  tgraph.yield %k, %t : tensor<1xi32>, tensor<1xi32>
  }
  func.return %n, %m : tensor<1xi32>, tensor<1xi32>
}

// -----

// The choice returned as well is a copy of the token it became.
// CHECK-LABEL: func.func @returned_too(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t = launch.alloc : memref<1xi32>
// CHECK-NEXT: launch.arg_max(x = %x : memref<1x32xf32>, out = %t : memref<1xi32>, token = %token : memref<1xi32>, position = %p : memref<1xi32>) covers [0, 1]
// CHECK-NEXT: %0 = launch.alloc : memref<1xi32>
// CHECK-NEXT: launch.copy(x = %token : memref<1xi32>, out = %0 : memref<1xi32>) covers []
// CHECK-NEXT: func.return %0 : memref<1xi32>
func.func @returned_too(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 2}, tensor<1xi32>) {
  %n, %m = tgraph.fused fused_sampling(%a = %x : tensor<1x32xf32>, %q = %p : tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %t = tgraph.arg_max %a : tensor<1x32xf32> -> tensor<1xi32>
  %k = tgraph.advance %q by 1 : (tensor<1xi32>) -> tensor<1xi32>
  tgraph.yield %t, %k : tensor<1xi32>, tensor<1xi32>
  }
  func.return %n, %m, %n : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
}
