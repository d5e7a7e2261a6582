// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @ring_kept
func.func @ring_kept(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<2x64xf32>, tensor<3x64xf32>) {
  // CHECK-NEXT: %s, %y = tgraph.fused conv_bias_silu(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}, %r_1 = %r : {{.*}}) -> (tensor<3x64xf32>, tensor<2x64xf32>) {
  // CHECK-NEXT:   %c, %s_1 = tgraph.causal_conv %x_1, %w_1, %r_1 number 0
  // CHECK-NEXT:   %y_1 = tgraph.silu %c number 1
  // CHECK-NEXT:   tgraph.yield %s_1, %y_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %y, %s
  %c, %s = tgraph.causal_conv %x, %w, %r number 0
    : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c number 1 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return %y, %s : tensor<2x64xf32>, tensor<3x64xf32>
}

// The convolution's silu goes with it, not with the product after it.
// CHECK-LABEL: func.func @before_a_product
func.func @before_a_product(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<3x64xf32>) {
  // CHECK-NEXT: tgraph.fused conv_bias_silu(
  // CHECK:      }
  // CHECK-NEXT: tgraph.elementwise mul
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %z = tgraph.elementwise mul %y, %x : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %z, %s : tensor<1x64xf32>, tensor<3x64xf32>
}

// -----

// CHECK-LABEL: func.func @rows_leave
// CHECK-NOT: tgraph.fused
func.func @rows_leave(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<3x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %c, %y, %s : tensor<1x64xf32>, tensor<1x64xf32>, tensor<3x64xf32>
}

// CHECK-LABEL: func.func @rows_read
// CHECK-NOT: tgraph.fused
func.func @rows_read(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %z = tgraph.scale %c by 2.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}

// Silu of the ring; another activation.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: tgraph.fused
func.func @not_matched(%x: tensor<1x64xf32>, %w: tensor<64x2xf32>, %r: tensor<1x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
  %y = tgraph.silu %s : tensor<1x64xf32> -> tensor<1x64xf32>
  %z = tgraph.sigmoid %c : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}
