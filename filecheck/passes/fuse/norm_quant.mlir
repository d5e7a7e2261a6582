// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @quantized_only
func.func @quantized_only(%x: tensor<1x32xf32>, %w: tensor<32xf32>) -> !tgraph.q8<1x32> {
  // CHECK-NEXT: %q = tgraph.fused norm_quant(%x_1 = %x : tensor<1x32xf32>, %w_1 = %w : tensor<32xf32>) -> (!tgraph.q8<1x32>) {
  // CHECK-NEXT:   %h = tgraph.fused_row rms %x_1 weight %w_1 : tensor<32xf32> cols 32 eps 1.000000e-06 number 0
  // CHECK-NEXT:   %q_1 = tgraph.quantize %h number 1
  // CHECK-NEXT:   tgraph.yield %q_1 : !tgraph.q8<1x32>
  // CHECK-NEXT: }
  %h = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 number 0 : tensor<1x32xf32>
  %q = tgraph.quantize %h number 1 : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %q : !tgraph.q8<1x32>
}

// The f32 form has a reader, which stands before the quantize: both forms are kept, in the norm's place.
// CHECK-LABEL: func.func @beside_f32
func.func @beside_f32(%x: tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32, two_plane>) {
  // CHECK-NEXT: %h, %q = tgraph.fused norm_quant(%x_1 = %x : tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32, two_plane>) {
  // CHECK:      tgraph.yield %h_1, %q_1
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.silu %h
  %h = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %r = tgraph.silu %h : tensor<1x32xf32> -> tensor<1x32xf32>
  %q = tgraph.quantize %h : tensor<1x32xf32> -> !tgraph.q8<1x32, two_plane>
  func.return %r, %q : tensor<1x32xf32>, !tgraph.q8<1x32, two_plane>
}

// -----

// A norm of heads, a softmax, and the second quantize of one norm.
// CHECK-LABEL: func.func @not_matched
func.func @not_matched(%x: tensor<1x64xf32>)
    -> (!tgraph.q8<1x64>, !tgraph.q8<1x64>, !tgraph.q8<1x64>, !tgraph.q8<1x64, two_plane>) {
  // CHECK-NEXT: tgraph.fused_row rms %x cols 32
  // CHECK-NEXT: tgraph.quantize
  // CHECK-NEXT: tgraph.fused_row softmax
  // CHECK-NEXT: tgraph.quantize
  // CHECK-NEXT: %h, %q = tgraph.fused norm_quant(
  // CHECK:      tgraph.yield %h_1, %q_1
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64, two_plane>
  // CHECK-NEXT: func.return
  %0 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.quantize %0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %2 = tgraph.fused_row softmax %x cols 64 : tensor<1x64xf32>
  %3 = tgraph.quantize %2 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %h = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %p = tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64, two_plane>
  func.return %1, %3, %q, %p : !tgraph.q8<1x64>, !tgraph.q8<1x64>, !tgraph.q8<1x64>, !tgraph.q8<1x64, two_plane>
}
