// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @values
func.func @values(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %wb: tensor<64x4xf32>, %wa: tensor<64x4xf32>) -> tensor<1x128xf32> {
  // CHECK-NEXT: %beta, %g = tgraph.fused gdn_gate_projections({{.*}}) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  // CHECK-NEXT:   %b = tgraph.matmul %x_1, %wb_1
  // CHECK-NEXT:   %a = tgraph.matmul %x_1, %wa_1
  // CHECK-NEXT:   tgraph.fused gdn_gating(
  // CHECK-NEXT:     tgraph.sigmoid %b_1
  // CHECK-NEXT:     tgraph.decay %a_1
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.gated_delta
  %b = tgraph.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %a = tgraph.matmul %x, %wa : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}

// -----

// By checkpoint rows; of two activations; one product for both; a product that leaves.
// CHECK-LABEL: func.func @by_rows
// CHECK-NOT: gdn_gate_projections
func.func @by_rows(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 4x64, transposed>) -> tensor<1x128xf32> {
  %b = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>) -> tensor<1x4xf32>
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}

// CHECK-LABEL: func.func @two_activations
// CHECK-NOT: gdn_gate_projections
func.func @two_activations(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %z: tensor<1x64xf32>, %wb: tensor<64x4xf32>, %wa: tensor<64x4xf32>) -> tensor<1x128xf32> {
  %b = tgraph.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %a = tgraph.matmul %z, %wa : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}

// CHECK-LABEL: func.func @one_product
// CHECK-NOT: gdn_gate_projections
func.func @one_product(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %wb: tensor<64x4xf32>, %wa: tensor<64x4xf32>) -> tensor<1x128xf32> {
  %b = tgraph.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %b, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}

// CHECK-LABEL: func.func @product_leaves
// CHECK-NOT: gdn_gate_projections
func.func @product_leaves(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %wb: tensor<64x4xf32>, %wa: tensor<64x4xf32>) -> (tensor<1x128xf32>, tensor<1x4xf32>) {
  %b = tgraph.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %a = tgraph.matmul %x, %wa : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y, %a : tensor<1x128xf32>, tensor<1x4xf32>
}

// A product with its bias.
// CHECK-LABEL: func.func @biased
// CHECK-NOT: gdn_gate_projections
func.func @biased(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %n: tensor<32xf32>, %dt: tensor<4xf32>,
    %al: tensor<4xf32>, %st: tensor<128x32xf32>,
    %x: tensor<1x64xf32>, %wb: tensor<64x4xf32>, %wa: tensor<64x4xf32>) -> tensor<1x128xf32> {
  %c = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x4xf32>
  %b = tgraph.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %p = tgraph.matmul %x, %wa : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %a = tgraph.elementwise add %p, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %beta = tgraph.sigmoid %b : tensor<1x4xf32> -> tensor<1x4xf32>
  %g = tgraph.decay %a, %dt, %al : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %beta, %g, %st, %n
    value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  func.return %y : tensor<1x128xf32>
}
