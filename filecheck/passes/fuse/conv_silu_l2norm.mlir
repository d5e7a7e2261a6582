// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<3x64xf32>) {
  // CHECK-NEXT: %s, %n = tgraph.fused conv_silu_l2norm({{.*}}) -> (tensor<3x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   %s_1, %y = tgraph.fused conv_bias_silu(
  // CHECK-NEXT:     tgraph.causal_conv
  // CHECK-NEXT:     tgraph.silu
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %n_1 = tgraph.l2norm %y cols 32 eps 1.000000e-06
  // CHECK-NEXT:   tgraph.yield %s_1, %n_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %n, %s
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = tgraph.l2norm %y cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %n, %s : tensor<1x64xf32>, tensor<3x64xf32>
}

// -----

// CHECK-LABEL: func.func @rows_leave
// CHECK-NOT: conv_silu_l2norm
// CHECK: conv_bias_silu
// CHECK-NOT: conv_silu_l2norm
func.func @rows_leave(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %y = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = tgraph.l2norm %y cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %n, %y : tensor<1x64xf32>, tensor<1x64xf32>
}

// No silu; the l2 norm of the ring; another reader of the rows.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: conv_silu_l2norm
func.func @not_matched(%x: tensor<1x64xf32>, %w: tensor<64x2xf32>, %r: tensor<1x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
  %n = tgraph.l2norm %c cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %d, %t = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
  %y = tgraph.silu %d : tensor<1x64xf32> -> tensor<1x64xf32>
  %m = tgraph.l2norm %t cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %l = tgraph.l2norm %y cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = tgraph.scale %y by 2.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %n, %m, %l, %k : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
