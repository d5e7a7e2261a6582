// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The ring is moved on in place.

// CHECK-LABEL: func.func @conv_bias_silu(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.conv(x = %x : memref<1x64xf32>, w = %taps : memref<64x4xf32>, ring = %ring : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu} covers [0, 1]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @conv_bias_silu(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %ring: tensor<3x64xf32> {tgraph.state = "ring"}) -> (tensor<3x64xf32> {tgraph.carry = 3}, tensor<1x64xf32>) {
  %taps = tgraph.constant #tgraph.checkpoint<"taps"> : tensor<64x4xf32>
  %c, %ring1 = tgraph.causal_conv %x, %taps, %ring : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %ring1, %y : tensor<3x64xf32>, tensor<1x64xf32>
}
