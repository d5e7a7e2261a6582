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

// -----

// A batch's: each attention quantizes its row, and no set is left.
// CHECK-LABEL: func.func @batch
func.func @batch(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> !tgraph.q8<2x64> {
  // CHECK:      %z = tgraph.fused attn_output_quant({{.*}}) -> (!tgraph.q8<2x64>) {
  // CHECK-NEXT:   %a0 = tgraph.attention
  // CHECK:        %a1 = tgraph.attention
  // CHECK:        %t = tgraph.set_row {{.*}}, %a0 row 0
  // CHECK-NEXT:   %u = tgraph.set_row %t, %a1 row 1
  // CHECK-NEXT:   %z_1 = tgraph.quantize %u
  // CHECK-NEXT:   tgraph.yield %z_1
  // CHECK-NEXT: }
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %g, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %u : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z : !tgraph.q8<2x64>
}

// One of its rows is read elsewhere too.
// CHECK-LABEL: func.func @batch_read_elsewhere
// CHECK-NOT: attn_output_quant
func.func @batch_read_elsewhere(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> (!tgraph.q8<2x64>, tensor<1x64xf32>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %g, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %u : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z, %a0 : !tgraph.q8<2x64>, tensor<1x64xf32>
}
