// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A fold: the gather, and the norm over what it wrote.

// CHECK-LABEL: func.func @embed_norm_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gather(table = %t : memref<8x32xf32>, index = %i : memref<2xi32>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.norm(x = %a : memref<2x32xf32>, out = %n : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %n : memref<2x32xf32>, memref<2x32xf32>
func.func @embed_norm_0(%token: tensor<2xi32> {tgraph.token}, %i: tensor<2xi32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x32xf32>
  %r, %r1 = tgraph.fused embed_norm(%i_1 = %i : tensor<2xi32>, %t_1 = %t : tensor<8x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.rows_gather %t_1 at %i_1 : (tensor<8x32xf32>, tensor<2xi32>) -> tensor<2x32xf32>
    %n = tgraph.fused_row rms %a cols 32 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %a, %n : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @embed_norm_1(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gather(table = %t : memref<8x32xf32>, index = %i : memref<2xi32>, out = %b : memref<2x32xf32>) {scale = 2.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: launch.norm(x = %b : memref<2x32xf32>, out = %n : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [2]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @embed_norm_1(%token: tensor<2xi32> {tgraph.token}, %i: tensor<2xi32>) -> (tensor<2x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x32xf32>
  %r = tgraph.fused embed_norm(%i_1 = %i : tensor<2xi32>, %t_1 = %t : tensor<8x32xf32>) -> (tensor<2x32xf32>) {
    %a = tgraph.fused embed_scale(%i_2 = %i_1 : tensor<2xi32>, %t_2 = %t_1 : tensor<8x32xf32>) -> (tensor<2x32xf32>) {
      %g = tgraph.rows_gather %t_2 at %i_2 : (tensor<8x32xf32>, tensor<2xi32>) -> tensor<2x32xf32>
      %b = tgraph.scale %g by 2.0 : tensor<2x32xf32> -> tensor<2x32xf32>
      tgraph.yield %b : tensor<2x32xf32>
    }
    %n = tgraph.fused_row rms %a cols 32 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
