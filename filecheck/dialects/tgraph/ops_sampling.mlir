// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// The greedy choice, and the next position.

// CHECK-LABEL: func.func @sampling(
// GENERIC-LABEL: sym_name = "sampling"
func.func @sampling(%l: tensor<3x256xf32>, %pos: tensor<1xi32>) {
  // CHECK-NEXT: %t0 = tgraph.arg_max %l : tensor<3x256xf32> -> tensor<3xi32>
  // GENERIC: %t0 = "tgraph.arg_max"(%l) : (tensor<3x256xf32>) -> tensor<3xi32>
  %t0 = tgraph.arg_max %l : tensor<3x256xf32> -> tensor<3xi32>
  // CHECK-NEXT: %t1 = tgraph.arg_max %l number 8 : tensor<3x256xf32> -> tensor<3xi32>
  // GENERIC-NEXT: %t1 = "tgraph.arg_max"(%l) <{number = 8 : i64}> : (tensor<3x256xf32>) -> tensor<3xi32>
  %t1 = tgraph.arg_max %l number 8 : tensor<3x256xf32> -> tensor<3xi32>
  // CHECK-NEXT: %p0 = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  // GENERIC-NEXT: %p0 = "tgraph.advance"(%pos) <{by = 1 : i64}> : (tensor<1xi32>) -> tensor<1xi32>
  %p0 = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  // CHECK-NEXT: %p1 = tgraph.advance %pos by 2147483647 number 9 : (tensor<1xi32>) -> tensor<1xi32>
  // GENERIC-NEXT: %p1 = "tgraph.advance"(%pos) <{by = 2147483647 : i64, number = 9 : i64}> : (tensor<1xi32>) -> tensor<1xi32>
  %p1 = tgraph.advance %pos by 2147483647 number 9 : (tensor<1xi32>) -> tensor<1xi32>
  func.return
}
