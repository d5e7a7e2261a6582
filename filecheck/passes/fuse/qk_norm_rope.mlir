// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<1x64xf32>, %w: tensor<32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %r = tgraph.fused qk_norm_rope(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}, %cos_1 = %cos : {{.*}}, %sin_1 = %sin : {{.*}}, %pos_1 = %pos : {{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %n = tgraph.fused_row rms %x_1 weight %w_1 : tensor<32xf32> cols 32 eps 1.000000e-05 number 0
  // CHECK-NEXT:   %r_1 = tgraph.rope %n, %cos_1, %sin_1 at %pos_1 heads 2 head_dim 32 half 16 number 1
  // CHECK-NEXT:   tgraph.yield %r_1
  // CHECK-NEXT: }
  %n = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-05 number 0 : tensor<1x64xf32>
  %r = tgraph.rope %n, %cos, %sin at %pos heads 2 head_dim 32 half 16 number 1
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %r : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @norm_leaves
// CHECK-NOT: qk_norm_rope
func.func @norm_leaves(%x: tensor<1x64xf32>, %w: tensor<32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %r = tgraph.rope %n, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %n, %r : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: qk_norm_rope
func.func @other_reader(%x: tensor<1x64xf32>, %w: tensor<32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %a = tgraph.silu %n : tensor<1x64xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %n, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %a, %r : tensor<1x64xf32>, tensor<1x64xf32>
}

// Norms of the whole row, of half heads, without a weight, with a bias, with a residual, a layer norm.
// CHECK-LABEL: func.func @other_norms
// CHECK-NOT: qk_norm_rope
func.func @other_norms(%x: tensor<1x64xf32>, %w: tensor<32xf32>, %wide: tensor<64xf32>, %narrow: tensor<16xf32>,
    %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = tgraph.fused_row rms %x weight %wide : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.rope %0, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %2 = tgraph.fused_row rms %x weight %narrow : tensor<16xf32> cols 16 eps 1.000000e-06 : tensor<1x64xf32>
  %3 = tgraph.rope %2, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %4 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %5 = tgraph.rope %4, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %6 = tgraph.fused_row rms %x weight %w : tensor<32xf32> bias %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %7 = tgraph.rope %6, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %8 = tgraph.fused_row rms %x weight %w : tensor<32xf32> residual %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %9 = tgraph.rope %8, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %10 = tgraph.fused_row layernorm %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %11 = tgraph.rope %10, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %1, %3, %5, %7, %9, %11
    : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
