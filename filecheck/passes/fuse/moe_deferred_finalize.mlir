// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The mixture alone under its norm, and on either side of the residual sum, which is kept where it is read.
// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %h = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %m = tgraph.moe
  // CHECK:        %h_1 = tgraph.fused_row rms %m
  // CHECK-NEXT:   tgraph.yield %h_1
  // CHECK-NEXT: }
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %m weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.fused add_norm(
  // CHECK:      %g = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.fused add_norm(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %o = tgraph.moe softmax silu %h, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.elementwise add %o, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %g = tgraph.fused_row rms %t weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %s, %h, %g : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Quantized; under a sandwich's norm; a norm with a residual of its own.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT: %s, %q = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.fused add_norm_quant(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.quantize %h : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %s, %q : tensor<1x64xf32>, !tgraph.q8<1x64>
}

// CHECK-LABEL: func.func @sandwich
func.func @sandwich(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.fused norm_then_add(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %i = tgraph.fused_row rms %m weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %i : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %s, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %h = tgraph.fused moe_deferred_finalize(
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.fused_row rms {{.*}} residual %m
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %res residual %m cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// Another sum between the mixture and the norm's own.
// CHECK-LABEL: func.func @sum_between
func.func @sum_between(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %o: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   %m = tgraph.moe
  // CHECK:        %t = tgraph.elementwise add %o_1, %m
  // CHECK-NEXT:   tgraph.fused add_norm(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.elementwise add %o, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %t : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %s, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// A product on the other side of the sum: the mixture is what is folded.
// CHECK-LABEL: func.func @beside_a_product
func.func @beside_a_product(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %w: !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.matmul
  // CHECK-NEXT: tgraph.fused moe_deferred_finalize(
  // CHECK-NEXT:   tgraph.moe
  // CHECK-NOT:  gemv_norm_epilogue
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %p = tgraph.matmul %res, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %p, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @mixture_leaves
// CHECK-NOT: moe_deferred_finalize
func.func @mixture_leaves(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %m, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @mixture_read
// CHECK-NOT: moe_deferred_finalize
func.func @mixture_read(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %z = tgraph.silu %m : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %z, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// The sum between leaves; the mixture under it leaves; twice the mixture; the difference.
// CHECK-LABEL: func.func @sum_between_leaves
// CHECK-NOT: moe_deferred_finalize
func.func @sum_between_leaves(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %o: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.elementwise add %o, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %t : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %t, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @mixture_under_a_sum_leaves
// CHECK-NOT: moe_deferred_finalize
func.func @mixture_under_a_sum_leaves(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %o: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.elementwise add %o, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %t : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %m, %h : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-NOT: moe_deferred_finalize
func.func @twice(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %m, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @difference
// CHECK-NOT: moe_deferred_finalize
func.func @difference(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise sub %res, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// One row is added to both of the mixture's.
// CHECK-LABEL: func.func @row_added
// CHECK-NOT: moe_deferred_finalize
func.func @row_added(%x: tensor<2x64xf32>, %o: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<2x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<2x64xf32>
  %s = tgraph.elementwise add %m, %o : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %h = tgraph.fused_row rms %s cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  func.return %h : tensor<2x64xf32>
}

// Heads are normed.
// CHECK-LABEL: func.func @norm_of_heads
// CHECK-NOT: moe_deferred_finalize
func.func @norm_of_heads(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %u: tensor<32xf32>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %m weight %u : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// The mixture is the side of a sandwich's sum that is not normed.
// CHECK-LABEL: func.func @other_side_of_a_sandwich
// CHECK-NOT: moe_deferred_finalize
func.func @other_side_of_a_sandwich(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %i = tgraph.fused_row rms %res weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.elementwise add %m, %i : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}

// Two norms of one mixture.
// CHECK-LABEL: func.func @two_norms
// CHECK-NOT: moe_deferred_finalize
func.func @two_norms(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %m weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %g = tgraph.fused_row rms %m weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h, %g : tensor<1x64xf32>, tensor<1x64xf32>
}

// With its shared expert, their sum normed: the sum is the mixture's before it is the norm's residual.
// CHECK-LABEL: func.func @shared_expert
func.func @shared_expert(%x: tensor<1x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>, %sd: !tgraph.rows<bf16, 64x128, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %h = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %s = tgraph.fused shared_expert_fusion(
  // CHECK-NEXT:     tgraph.moe
  // CHECK:          tgraph.fused gemv_gate_up_glu(
  // CHECK:          tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %h_1 = tgraph.fused_row rms %s
  // CHECK-NEXT:   tgraph.yield %h_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %g = tgraph.matmul %x, %wg : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %u = tgraph.matmul %x, %wu : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %a = tgraph.swiglu %g, %u : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  %d = tgraph.matmul %a, %sd : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %d, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %h : tensor<1x64xf32>
}
