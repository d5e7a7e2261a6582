// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// Convolutions side by side; those that are normed share an eps.

// CHECK-LABEL: func.func @conv_parts(
// CHECK-SAME: launch.lifted = 5 : i64
// CHECK: %y0 = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %y1 = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.conv_parts() attributes {eps = 1.000000e+00 : f32} {
// CHECK-NEXT: launch.conv_part(x = %x : memref<1x64xf32>, w = %taps : memref<64x4xf32>, ring = %r0 : memref<3x64xf32>, out = %y0 : memref<1x64xf32>) {l2_cols = 32 : i64} covers [0, 1, 2]
// CHECK-NEXT: launch.conv_part(x = %x : memref<1x64xf32>, w = %taps : memref<64x4xf32>, ring = %r1 : memref<3x64xf32>, out = %y1 : memref<1x64xf32>) covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y0, %y1 : memref<1x64xf32>, memref<1x64xf32>
// CHECK-NEXT: }
func.func @conv_parts(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %r0: tensor<3x64xf32> {tgraph.state = "a"}, %r1: tensor<3x64xf32> {tgraph.state = "b"}) -> (tensor<3x64xf32> {tgraph.carry = 3}, tensor<3x64xf32> {tgraph.carry = 4}, tensor<1x64xf32>, tensor<1x64xf32>) {
  %taps = tgraph.constant #tgraph.checkpoint<"taps"> : tensor<64x4xf32>
  %c0, %n0 = tgraph.causal_conv %x, %taps, %r0 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %s0 = tgraph.silu %c0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.l2norm %s0 cols 32 eps 1.0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %c1, %n1 = tgraph.causal_conv %x, %taps, %r1 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y1 = tgraph.silu %c1 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %n0, %n1, %y0, %y1 : tensor<3x64xf32>, tensor<3x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
