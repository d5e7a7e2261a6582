// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// With silu and the l2 norm of every head.

// CHECK-LABEL: func.func @conv_silu_l2norm(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.conv(x = %x : memref<1x64xf32>, w = %taps : memref<64x4xf32>, ring = %ring : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e+00 : f32} covers [0, 1, 2]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @conv_silu_l2norm(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %ring: tensor<3x64xf32> {tgraph.state = "ring"}) -> (tensor<3x64xf32> {tgraph.carry = 3}, tensor<1x64xf32>) {
  %taps = tgraph.constant #tgraph.checkpoint<"taps"> : tensor<64x4xf32>
  %c, %ring1 = tgraph.causal_conv %x, %taps, %ring : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %s = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.l2norm %s cols 32 eps 1.0 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %ring1, %y : tensor<3x64xf32>, tensor<1x64xf32>
}
