// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The attention on the left of its gate, and on the right.
// CHECK-LABEL: func.func @left
func.func @left(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %y = tgraph.fused attn_output_gate(%q_1 = %q : {{.*}}, %k_1 = %k : {{.*}}, %v_1 = %v : {{.*}}, %p_1 = %p : {{.*}}, %g_1 = %g : {{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %a = tgraph.attention %q_1, %k_1, %v_1 at %p_1
  // CHECK-NEXT:   %y_1 = tgraph.fused glu_act_mul(
  // CHECK-NEXT:     %s = tgraph.sigmoid
  // CHECK-NEXT:     tgraph.elementwise mul %a_1, %s
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %y_1
  // CHECK-NEXT: }
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @right
func.func @right(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.fused attn_output_gate(
  // CHECK:      }
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %s, %a : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// Read quantized: the f32 form goes. Heads of twice the width hold the query and its gate.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<1x128xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> !tgraph.q8<1x64> {
  // CHECK-NEXT: %q = tgraph.head_slice
  // CHECK-NEXT: %g = tgraph.head_slice
  // CHECK-NEXT: %z = tgraph.fused glu_act_mul_quant({{.*}}) -> (!tgraph.q8<1x64>) {
  // CHECK-NEXT:   tgraph.fused attn_output_gate(
  // CHECK-NEXT:     tgraph.attention
  // CHECK-NEXT:     tgraph.fused glu_act_mul(
  // CHECK:        tgraph.quantize
  %q = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %g = tgraph.head_slice %x start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %z = tgraph.quantize %y : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %z : !tgraph.q8<1x64>
}

// A batch of two sequences: their rows are set into a tensor nothing of which is left.
// CHECK-LABEL: func.func @batch
func.func @batch(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> tensor<2x64xf32> {
  // CHECK-NEXT: tgraph.view
  // CHECK-NEXT: tgraph.view
  // CHECK-NEXT: %y = tgraph.fused attn_output_gate({{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   %a0 = tgraph.attention
  // CHECK-NEXT:   %a1 = tgraph.attention
  // CHECK-NEXT:   %t = tgraph.set_row %q_1, %a0 row 0
  // CHECK-NEXT:   %u = tgraph.set_row %t, %a1 row 1
  // CHECK-NEXT:   tgraph.fused glu_act_mul(
  // CHECK-NEXT:     tgraph.sigmoid
  // CHECK-NEXT:     tgraph.elementwise mul %u_1
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @batch_quantized
func.func @batch_quantized(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> !tgraph.q8<2x64> {
  // CHECK:      %z = tgraph.fused glu_act_mul_quant({{.*}}) -> (!tgraph.q8<2x64>) {
  // CHECK-NEXT:   tgraph.fused attn_output_gate(
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %y : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z : !tgraph.q8<2x64>
}

// -----

// CHECK-LABEL: func.func @attention_leaves
// CHECK-NOT: attn_output_gate
func.func @attention_leaves(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %a : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @attention_read
// CHECK-NOT: attn_output_gate
func.func @attention_read(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %r = tgraph.scale %a by 2.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y, %r : tensor<1x64xf32>, tensor<1x64xf32>
}

// Gated by itself; the attention's activation as the gate of something else; not gated.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: attn_output_gate
func.func @not_matched(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %a : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %b = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
  %z = tgraph.elementwise mul %g, %t : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %c = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %x = tgraph.elementwise mul %c, %g : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %z, %x : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// A batch whose rows are set out of order; one of which is not an attention's; whose first rows are read between.
// CHECK-LABEL: func.func @out_of_order
// CHECK-NOT: attn_output_gate
func.func @out_of_order(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> tensor<2x64xf32> {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @another_row
// CHECK-NOT: attn_output_gate
func.func @another_row(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> tensor<2x64xf32> {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %r = tgraph.scale %a0 by 2.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %r row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @rows_read_between
// CHECK-NOT: attn_output_gate
func.func @rows_read_between(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y, %t : tensor<2x64xf32>, tensor<2x64xf32>
}

// One row of three is left of the tensor; a row that leaves; rows set at a position.
// CHECK-LABEL: func.func @row_left
// CHECK-NOT: attn_output_gate
func.func @row_left(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>, %w: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %w, %a0 row 0 : (tensor<3x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<3x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
  %s = tgraph.sigmoid %w : tensor<3x64xf32> -> tensor<3x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<3x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  func.return %y : tensor<3x64xf32>
}

// CHECK-LABEL: func.func @row_leaves
// CHECK-NOT: attn_output_gate
func.func @row_leaves(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> (tensor<2x64xf32>, tensor<1x64xf32>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y, %a0 : tensor<2x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @at_a_position
// CHECK-NOT: attn_output_gate
func.func @at_a_position(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %v0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %v1: tensor<8x64xf32>,
    %p0: tensor<1xi32>, %p1: tensor<1xi32>) -> tensor<2x64xf32> {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %v0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %v1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 at %p1 : (tensor<2x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %u, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// The gate is made of the attention.
// CHECK-LABEL: func.func @gate_from_the_attention
// CHECK-NOT: attn_output_gate
func.func @gate_from_the_attention(%q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %a = tgraph.attention %q, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %m = tgraph.fused_row rms %a cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %s = tgraph.sigmoid %m : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}
