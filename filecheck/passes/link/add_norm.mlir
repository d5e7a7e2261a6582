// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A norm with its residual sum, stored where something reads it.

// CHECK-LABEL: func.func @add_norm_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %s = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.norm(x = %x : memref<2x32xf32>, add = %y : memref<2x32xf32>, sum = %s : memref<2x32xf32>, out = %n : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %s, %n : memref<2x32xf32>, memref<2x32xf32>
func.func @add_norm_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %r, %r1 = tgraph.fused add_norm(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %s = tgraph.elementwise add %x_1, %y_1 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %n = tgraph.fused_row rms %s cols 32 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %s, %n : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @add_norm_1(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.norm(x = %x : memref<2x32xf32>, add = %y : memref<2x32xf32>, w = %h : memref<16xf32>, out = %n : memref<2x32xf32>) {cols = 16 : i64, eps = 1.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @add_norm_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %h = tgraph.constant #tgraph.checkpoint<"h"> : tensor<16xf32>
  %r = tgraph.fused add_norm(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>, %h_1 = %h : tensor<16xf32>) -> (tensor<2x32xf32>) {
    %s = tgraph.elementwise add %x_1, %y_1 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %n = tgraph.fused_row rms %s weight %h_1 : tensor<16xf32> cols 16 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
