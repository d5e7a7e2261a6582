// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A gather with its scale.

// CHECK-LABEL: func.func @embed_scale(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gather(table = %t : memref<8x32xf32>, index = %i : memref<2xi32>, out = %n : memref<2x32xf32>) {scale = 2.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @embed_scale(%token: tensor<2xi32> {tgraph.token}, %i: tensor<2xi32>) -> (tensor<2x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x32xf32>
  %r = tgraph.fused embed_scale(%i_1 = %i : tensor<2xi32>, %t_1 = %t : tensor<8x32xf32>) -> (tensor<2x32xf32>) {
    %a = tgraph.rows_gather %t_1 at %i_1 : (tensor<8x32xf32>, tensor<2xi32>) -> tensor<2x32xf32>
    %n = tgraph.scale %a by 2.0 : tensor<2x32xf32> -> tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
