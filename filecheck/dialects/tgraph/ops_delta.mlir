// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Linear attention by the gated delta rule, and what feeds it.

// CHECK-LABEL: func.func @decay(
// GENERIC-LABEL: sym_name = "decay"
func.func @decay(%a: tensor<2x4xf32>, %dt: tensor<4xf32>, %al: tensor<4xf32>) {
  // CHECK-NEXT: %y0 = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // GENERIC: %y0 = "tgraph.decay"(%a, %dt, %al) : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %y0 = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %y1 = tgraph.decay %a, %al, %dt number 4 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // GENERIC-NEXT: %y1 = "tgraph.decay"(%a, %al, %dt) <{number = 4 : i64}> : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %y1 = tgraph.decay %a, %al, %dt number 4 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: func.func @l2norm(
// GENERIC-LABEL: sym_name = "l2norm"
func.func @l2norm(%x: tensor<2x64xf32>) {
  // CHECK-NEXT: %y0 = tgraph.l2norm %x cols 16 eps 1.000000e-06 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.l2norm"(%x) <{cols = 16 : i64, eps = 1.000000e-06 : f32}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y0 = tgraph.l2norm %x cols 16 eps 1.000000e-06 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.l2norm %x cols 64 eps 0.000000e+00 number 2 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.l2norm"(%x) <{cols = 64 : i64, eps = 0.000000e+00 : f32, number = 2 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.l2norm %x cols 64 eps 0.000000e+00 number 2 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// CHECK-LABEL: func.func @causal_conv(
// GENERIC-LABEL: sym_name = "causal_conv"
func.func @causal_conv(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>, %w2: tensor<64x2xf32>, %r2: tensor<1x64xf32>) {
  // CHECK-NEXT: %y0, %s0 = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  // GENERIC: %y0, %s0 = "tgraph.causal_conv"(%x, %w, %r) : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  %y0, %s0 = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  // Two taps: a ring of one row.
  // CHECK-NEXT: %y1, %s1 = tgraph.causal_conv %x, %w2, %r2 number 3 : (tensor<2x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<2x64xf32>, tensor<1x64xf32>)
  // GENERIC-NEXT: %y1, %s1 = "tgraph.causal_conv"(%x, %w2, %r2) <{number = 3 : i64}> : (tensor<2x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<2x64xf32>, tensor<1x64xf32>)
  %y1, %s1 = tgraph.causal_conv %x, %w2, %r2 number 3 : (tensor<2x64xf32>, tensor<64x2xf32>, tensor<1x64xf32>) -> (tensor<2x64xf32>, tensor<1x64xf32>)
  func.return
}

// CHECK-LABEL: func.func @gated_delta(
// GENERIC-LABEL: sym_name = "gated_delta"
func.func @gated_delta(%k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %g: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  // CHECK-NEXT: %y0, %s0 = tgraph.gated_delta silu %k, %k, %v, %v, %g, %g, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.000000e-06 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  // GENERIC: %y0, %s0 = "tgraph.gated_delta"(%k, %k, %v, %v, %g, %g, %s, %n) <{gate = #tgraph<delta_gate silu>, value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 16 : i64, eps = 1.000000e-06 : f32}> : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  %y0, %s0 = tgraph.gated_delta silu %k, %k, %v, %v, %g, %g, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.000000e-06 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  // CHECK-NEXT: %y1, %s1 = tgraph.gated_delta sigmoid %v, %v, %v, %v, %g, %g, %s, %n value_heads 4 key_heads 4 head_dim 16 eps 0.000000e+00 number 5 : (tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  // GENERIC-NEXT: %y1, %s1 = "tgraph.gated_delta"(%v, %v, %v, %v, %g, %g, %s, %n) <{gate = #tgraph<delta_gate sigmoid>, value_heads = 4 : i64, key_heads = 4 : i64, head_dim = 16 : i64, eps = 0.000000e+00 : f32, number = 5 : i64}> : (tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  %y1, %s1 = tgraph.gated_delta sigmoid %v, %v, %v, %v, %g, %g, %s, %n value_heads 4 key_heads 4 head_dim 16 eps 0.000000e+00 number 5 : (tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}
