// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The norm before the residual sum is the launch's own.

// CHECK-LABEL: func.func @norm_then_add(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %s = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %o = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.norm(x = %x : memref<1x64xf32>, pre = %n : memref<64xf32>, add = %y : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %n : memref<64xf32>, out = %o : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e+00 : f32, pre_eps = 1.000000e+00 : f32} covers [0, 1, 2]
// CHECK-NEXT: func.return %s, %o : memref<1x64xf32>, memref<1x64xf32>
// CHECK-NEXT: }
func.func @norm_then_add(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %a = tgraph.fused_row rms %x weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  %s = tgraph.elementwise add %y, %a : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %o = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return %s, %o : tensor<1x64xf32>, tensor<1x64xf32>
}
