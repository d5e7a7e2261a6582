// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A delta rule's query, key and value: each its own channels, weight and ring; heads of query and key normed.
// CHECK-LABEL: func.func @query_key_value
func.func @query_key_value(%x: tensor<1x64xf32>, %v: tensor<1x128xf32>, %w: tensor<64x4xf32>, %u: tensor<128x4xf32>,
    %rq: tensor<3x64xf32>, %rk: tensor<3x64xf32>, %rv: tensor<3x128xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x128xf32>) {
  // CHECK-NEXT: %sq, %q, %sk, %k, %sv, %y = tgraph.fused conv_parts(
  // CHECK-NEXT:   tgraph.fused conv_silu_l2norm(
  // CHECK:          tgraph.l2norm
  // CHECK:        tgraph.fused conv_silu_l2norm(
  // CHECK:          tgraph.l2norm
  // CHECK:        tgraph.fused conv_bias_silu(
  // CHECK:        }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %q, %k, %y, %sq, %sk, %sv
  %cq, %sq = tgraph.causal_conv %x, %w, %rq
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %aq = tgraph.silu %cq : tensor<1x64xf32> -> tensor<1x64xf32>
  %q = tgraph.l2norm %aq cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %ck, %sk = tgraph.causal_conv %x, %w, %rk
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %ak = tgraph.silu %ck : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = tgraph.l2norm %ak cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %cv, %sv = tgraph.causal_conv %v, %u, %rv
    : (tensor<1x128xf32>, tensor<128x4xf32>, tensor<3x128xf32>) -> (tensor<1x128xf32>, tensor<3x128xf32>)
  %y = tgraph.silu %cv : tensor<1x128xf32> -> tensor<1x128xf32>
  func.return %q, %k, %y, %sq, %sk, %sv
    : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x128xf32>
}

// Heads normed by another eps open the next launch, which one that is not normed joins.
// CHECK-LABEL: func.func @other_norm
func.func @other_norm(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: tgraph.fused conv_silu_l2norm(
  // CHECK-NOT:  conv_parts
  // CHECK:      tgraph.l2norm {{.*}} eps 1.000000e-06
  // CHECK:      tgraph.fused conv_parts(
  // CHECK-NEXT:   tgraph.fused conv_silu_l2norm(
  // CHECK:          tgraph.l2norm {{.*}} eps 1.000000e-05
  // CHECK:        tgraph.fused conv_bias_silu(
  // CHECK-NOT:  tgraph.fused
  // CHECK:      func.return
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %0 = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %a = tgraph.l2norm %0 cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %d, %t = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %1 = tgraph.silu %d : tensor<1x64xf32> -> tensor<1x64xf32>
  %b = tgraph.l2norm %1 cols 32 eps 1.000000e-05 : tensor<1x64xf32> -> tensor<1x64xf32>
  %e, %u = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %2 = tgraph.silu %e : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %a, %b, %2 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Five: four to a launch, and one alone.
// CHECK-LABEL: func.func @five
func.func @five(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %a, %b, %c, %d = tgraph.fused conv_parts(
  // CHECK:      %e = tgraph.fused conv_bias_silu(
  // CHECK-NOT:  conv_parts
  %0, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %a = tgraph.silu %0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %1, %t = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %b = tgraph.silu %1 : tensor<1x64xf32> -> tensor<1x64xf32>
  %2, %u = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %c = tgraph.silu %2 : tensor<1x64xf32> -> tensor<1x64xf32>
  %3, %v = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %d = tgraph.silu %3 : tensor<1x64xf32> -> tensor<1x64xf32>
  %4, %z = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %e = tgraph.silu %4 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// Heads of another width.
// CHECK-LABEL: func.func @other_heads
// CHECK-NOT: conv_parts
func.func @other_heads(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %0 = tgraph.silu %c : tensor<1x64xf32> -> tensor<1x64xf32>
  %a = tgraph.l2norm %0 cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  %d, %t = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %1 = tgraph.silu %d : tensor<1x64xf32> -> tensor<1x64xf32>
  %b = tgraph.l2norm %1 cols 64 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %a, %b : tensor<1x64xf32>, tensor<1x64xf32>
}

// Other taps, other rows, no silu.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: conv_parts
func.func @not_matched(%x: tensor<1x64xf32>, %x2: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>,
    %w2: tensor<64x3xf32>, %r2: tensor<2x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<2x64xf32>, tensor<1x64xf32>) {
  %0, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %a = tgraph.silu %0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %1, %t = tgraph.causal_conv %x, %w2, %r2
    : (tensor<1x64xf32>, tensor<64x3xf32>, tensor<2x64xf32>) -> (tensor<1x64xf32>, tensor<2x64xf32>)
  %b = tgraph.silu %1 : tensor<1x64xf32> -> tensor<1x64xf32>
  %2, %u = tgraph.causal_conv %x2, %w, %r
    : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  %c = tgraph.silu %2 : tensor<2x64xf32> -> tensor<2x64xf32>
  %d, %v = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  func.return %a, %b, %c, %d : tensor<1x64xf32>, tensor<1x64xf32>, tensor<2x64xf32>, tensor<1x64xf32>
}

// The second is of what the first leaves; of a ring the first leaves; of what a reader of the first leaves.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-NOT: conv_parts
func.func @one_after_the_other(%x: tensor<1x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0, %s = tgraph.causal_conv %x, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %a = tgraph.silu %0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %1, %t = tgraph.causal_conv %a, %w, %s
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %b = tgraph.silu %1 : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.scale %b by 2.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
  %2, %u = tgraph.causal_conv %y, %w, %r
    : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %c = tgraph.silu %2 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
