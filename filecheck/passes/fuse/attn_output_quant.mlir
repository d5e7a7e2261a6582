// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @quantized_only
func.func @quantized_only(%q: tensor<1x64xf32>, %k: tensor<8x32xf32>, %v: tensor<8x32xf32>, %pos: tensor<1xi32>)
    -> !tgraph.q8<1x64> {
  // CHECK-NEXT: %p = tgraph.fused attn_output_quant(%q_1 = %q : {{.*}}, %k_1 = %k : {{.*}}, %v_1 = %v : {{.*}}, %pos_1 = %pos : {{.*}}) -> (!tgraph.q8<1x64>) {
  // CHECK-NEXT:   %o = tgraph.attention %q_1, %k_1, %v_1 at %pos_1
  // CHECK-NEXT:   %p_1 = tgraph.quantize %o
  // CHECK-NEXT:   tgraph.yield %p_1
  // CHECK-NEXT: }
  %o = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 1 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<1x64xf32>
  %p = tgraph.quantize %o : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %p : !tgraph.q8<1x64>
}

// CHECK-LABEL: func.func @beside_f32
func.func @beside_f32(%q: tensor<1x64xf32>, %k: tensor<8x32xf32>, %v: tensor<8x32xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  // CHECK-NEXT: %o, %p = tgraph.fused attn_output_quant(
  // CHECK:      tgraph.yield %o_1, %p_1
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.silu %o
  %o = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 1 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<1x64xf32>
  %a = tgraph.silu %o : tensor<1x64xf32> -> tensor<1x64xf32>
  %p = tgraph.quantize %o : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %a, %p : tensor<1x64xf32>, !tgraph.q8<1x64>
}

// -----

// What is quantized is not the attention's result itself.
// CHECK-LABEL: func.func @something_between
// CHECK-NOT: tgraph.fused
func.func @something_between(%q: tensor<1x64xf32>, %k: tensor<8x32xf32>, %v: tensor<8x32xf32>, %pos: tensor<1xi32>)
    -> !tgraph.q8<1x64> {
  %o = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 1 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<1x64xf32>
  %a = tgraph.sigmoid %o : tensor<1x64xf32> -> tensor<1x64xf32>
  %p = tgraph.quantize %a : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %p : !tgraph.q8<1x64>
}
