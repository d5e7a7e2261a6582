// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// Both gates of one rule, in either order.
// CHECK-LABEL: func.func @gates
func.func @gates(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>, %a: tensor<1x4xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>) {
  // CHECK-NEXT: %beta, %g = tgraph.fused gdn_gating(%b_1 = %b : {{.*}}, %a_1 = %a : {{.*}}, %dt_1 = %dt : {{.*}}, %al_1 = %al : {{.*}}) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  // CHECK-NEXT:   %beta_1 = tgraph.sigmoid %b_1
  // CHECK-NEXT:   %g_1 = tgraph.decay %a_1, %dt_1, %al_1
  // CHECK-NEXT:   tgraph.yield %beta_1, %g_1
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.gated_delta
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y, %t : tensor<1x128xf32>, tensor<128x32xf32>
}

// CHECK-LABEL: func.func @decay_first
func.func @decay_first(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>, %a: tensor<1x4xf32>) -> (tensor<1x128xf32>, tensor<1x4xf32>) {
  // A write strength that leaves is kept like any other.
  // CHECK-NEXT: %g, %beta = tgraph.fused gdn_gating(
  // CHECK-NEXT:   tgraph.decay
  // CHECK-NEXT:   tgraph.sigmoid
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y, %beta : tensor<1x128xf32>, tensor<1x4xf32>
}

// A batch: each sequence's rule reads its row of both.
// CHECK-LABEL: func.func @batch
func.func @batch(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<2x4xf32>, %a: tensor<2x4xf32>, %st1: tensor<128x32xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  // CHECK-NEXT: %beta, %g = tgraph.fused gdn_gating(
  // CHECK:      }
  // CHECK-NEXT: tgraph.view %beta offset 0
  %beta = tgraph.sigmoid %b : tensor<2x4xf32> -> tensor<2x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %b0 = tgraph.view %beta offset 0 : tensor<2x4xf32> -> tensor<1x4xf32>
  %g0 = tgraph.view %g offset 0 : tensor<2x4xf32> -> tensor<1x4xf32>
  %y0, %t0 = tgraph.gated_delta silu %q, %q, %v, %v, %b0, %g0, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %b1 = tgraph.view %beta offset 4 : tensor<2x4xf32> -> tensor<1x4xf32>
  %g1 = tgraph.view %g offset 4 : tensor<2x4xf32> -> tensor<1x4xf32>
  %y1, %t1 = tgraph.gated_delta silu %q, %q, %v, %v, %b1, %g1, %st1, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y0, %y1 : tensor<1x128xf32>, tensor<1x128xf32>
}

// Two rules: each has its own gates.
// CHECK-LABEL: func.func @two_rules
func.func @two_rules(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>, %a: tensor<1x4xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  // CHECK-NEXT: %b0, %g0 = tgraph.fused gdn_gating(
  // CHECK:      }
  // CHECK-NEXT: %b1, %g1 = tgraph.fused gdn_gating(
  %b0 = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %b1 = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g0 = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %g1 = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y0, %t0 = tgraph.gated_delta silu %q, %q, %v, %v, %b0, %g0, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %y1, %t1 = tgraph.gated_delta silu %q, %q, %v, %v, %b1, %g1, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y0, %y1 : tensor<1x128xf32>, tensor<1x128xf32>
}

// -----

// The strength is that of one rule, the decay that of another, or of two.
// CHECK-LABEL: func.func @other_rules
// CHECK-NOT: tgraph.fused
func.func @other_rules(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>, %a: tensor<1x4xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) {
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %h = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %b, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %z, %u = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %h, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %w, %s = tgraph.gated_delta silu %q, %q, %v, %v, %a, %h, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y, %z, %w : tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>
}

// A sigmoid read as the decay, a decay read as the strength; read by no rule.
// CHECK-LABEL: func.func @other_sides
// CHECK-NOT: tgraph.fused
func.func @other_sides(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>, %a: tensor<1x4xf32>) -> (tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %g, %beta, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %c = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %d = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  func.return %y, %c, %d : tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// The decay is made of what reads the strength: no place suits both.
// CHECK-LABEL: func.func @through_a_reader
// CHECK-NOT: tgraph.fused
func.func @through_a_reader(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %b: tensor<1x4xf32>) -> tensor<1x128xf32> {
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %a = tgraph.scale %beta by 2.000000e+00 : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}
