// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A binary launch with a gate on b.

// CHECK-LABEL: func.func @glu_act_mul(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.binary(a = %y : memref<2x32xf32>, b = %x : memref<2x32xf32>, out = %b : memref<2x32xf32>) {kind = #tgraph<binary_kind mul>, gate = #launch<act sigmoid>} covers [0, 1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @glu_act_mul(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %r = tgraph.fused glu_act_mul(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (tensor<2x32xf32>) {
    %a = tgraph.sigmoid %x_1 : tensor<2x32xf32> -> tensor<2x32xf32>
    %b = tgraph.elementwise mul %y_1, %a : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    tgraph.yield %b : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
