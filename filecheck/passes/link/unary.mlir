// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Activations, and a scale.

// CHECK-LABEL: func.func @unary(
// CHECK-SAME: launch.lifted = 5 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %x : memref<2x32xf32>, out = %a : memref<2x32xf32>) {act = #launch<act silu>} covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %a : memref<2x32xf32>, out = %b : memref<2x32xf32>) {act = #launch<act sigmoid>} covers [1]
// CHECK-NEXT: %c = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %b : memref<2x32xf32>, out = %c : memref<2x32xf32>) {act = #launch<act gelu>} covers [2]
// CHECK-NEXT: %d = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %c : memref<2x32xf32>, out = %d : memref<2x32xf32>) {act = #launch<act gelu_tanh>} covers [3]
// CHECK-NEXT: %e = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.scale(x = %d : memref<2x32xf32>, out = %e : memref<2x32xf32>) {factor = 5.000000e-01 : f32} covers [4]
// CHECK-NEXT: func.return %e : memref<2x32xf32>
func.func @unary(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %a = tgraph.silu %x : tensor<2x32xf32> -> tensor<2x32xf32>
  %b = tgraph.sigmoid %a : tensor<2x32xf32> -> tensor<2x32xf32>
  %c = tgraph.gelu exact %b : tensor<2x32xf32> -> tensor<2x32xf32>
  %d = tgraph.gelu tanh %c : tensor<2x32xf32> -> tensor<2x32xf32>
  %e = tgraph.scale %d by 0.5 : tensor<2x32xf32> -> tensor<2x32xf32>
  func.return %e : tensor<2x32xf32>
}
