// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The state is kept; so are the f32 rows where they are read.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %b: tensor<1x4xf32>, %s: tensor<128x32xf32>,
    %n: tensor<32xf32>) -> (!tgraph.q8<1x128>, tensor<128x32xf32>) {
  // CHECK-NEXT: %t, %y_q8 = tgraph.fused gdn_output_quant({{.*}}) -> (tensor<128x32xf32>, !tgraph.q8<1x128>) {
  // CHECK-NEXT:   %y, %t_1 = tgraph.gated_delta silu
  // CHECK-NEXT:   %y_q8_1 = tgraph.quantize %y
  // CHECK-NEXT:   tgraph.yield %t_1, %y_q8_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %y_q8, %t
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %b, %b, %s, %n value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %y_q8 = tgraph.quantize %y : tensor<1x128xf32> -> !tgraph.q8<1x128>
  func.return %y_q8, %t : !tgraph.q8<1x128>, tensor<128x32xf32>
}

// CHECK-LABEL: func.func @beside_f32
func.func @beside_f32(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %b: tensor<1x4xf32>, %s: tensor<128x32xf32>,
    %n: tensor<32xf32>) -> (tensor<1x128xf32>, !tgraph.q8<1x128>) {
  // CHECK-NEXT: tgraph.fused gdn_output_quant({{.*}}) -> (tensor<1x128xf32>, !tgraph.q8<1x128>) {
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %b, %b, %s, %n value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %y_q8 = tgraph.quantize %y : tensor<1x128xf32> -> !tgraph.q8<1x128>
  func.return %y, %y_q8 : tensor<1x128xf32>, !tgraph.q8<1x128>
}

// -----

// The state is quantized, not the rows.
// CHECK-LABEL: func.func @state_quantized
// CHECK-NOT: tgraph.fused
func.func @state_quantized(%q: tensor<1x64xf32>, %v: tensor<1x128xf32>, %b: tensor<1x4xf32>, %s: tensor<128x32xf32>,
    %n: tensor<32xf32>) -> (tensor<1x128xf32>, !tgraph.q8<128x32>) {
  %y, %t = tgraph.gated_delta silu %q, %q, %v, %v, %b, %b, %s, %n value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
  %t_q8 = tgraph.quantize %t : tensor<128x32xf32> -> !tgraph.q8<128x32>
  func.return %y, %t_q8 : tensor<1x128xf32>, !tgraph.q8<128x32>
}
