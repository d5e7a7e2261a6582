// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// A sum that is read outside is kept beside its norm; attributes come last.
// CHECK-LABEL: func.func @keeps(
// GENERIC-LABEL: sym_name = "keeps"
func.func @keeps(%x: tensor<1x64xf32>, %y: tensor<1x64xf32>, %w: tensor<64xf32>) {
  // CHECK-NEXT: %sum, %h = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>, %b = %y : tensor<1x64xf32>, %n = %w : tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %sum, %h = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>, %b = %y : tensor<1x64xf32>, %n = %w : tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %s = tgraph.elementwise add %a, %b number 3 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    %s = tgraph.elementwise add %a, %b number 3 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  // CHECK-NEXT: %r = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 number 4 : tensor<1x64xf32>
    %r = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 number 4 : tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %s, %r : tensor<1x64xf32>, tensor<1x64xf32>
    tgraph.yield %s, %r : tensor<1x64xf32>, tensor<1x64xf32>
  // CHECK-NEXT: } attributes {note = "kept\0A"}
  } attributes {note = "kept\0A"}

  // GENERIC: %sum, %h = "tgraph.fused"(%x, %y, %w) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
  // GENERIC-NEXT: ^bb0(%a: tensor<1x64xf32>, %b: tensor<1x64xf32>, %n: tensor<64xf32>):
  // GENERIC-NEXT: %s = "tgraph.elementwise"(%a, %b) <{kind = #tgraph<binary_kind add>, number = 3 : i64}> : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %r = "tgraph.fused_row"(%s, %n) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.000000e-06 : f32, number = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: "tgraph.yield"(%s, %r) : (tensor<1x64xf32>, tensor<1x64xf32>) -> ()
  // GENERIC-NEXT: }) {note = "kept\0A"} : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
  func.return
}

// A part may be a fused op; a row set inside the region lands in place.
// CHECK-LABEL: func.func @nests(
// GENERIC-LABEL: sym_name = "nests"
func.func @nests(%x: tensor<1x64xf32>, %t: tensor<32x64xf32>, %c: tensor<32x32xf32>, %s: tensor<32x32xf32>, %pos: tensor<1xi32>) {
  // CHECK-NEXT: %u = tgraph.fused row_in_place(%a = %x : tensor<1x64xf32>, %b = %c : tensor<32x32xf32>, %d = %s : tensor<32x32xf32>, %e = %t : tensor<32x64xf32>, %p = %pos : tensor<1xi32>) -> (tensor<32x64xf32>) {
  %u = tgraph.fused row_in_place(%a = %x : tensor<1x64xf32>, %b = %c : tensor<32x32xf32>, %d = %s : tensor<32x32xf32>, %e = %t : tensor<32x64xf32>, %p = %pos : tensor<1xi32>) -> (tensor<32x64xf32>) {
  // CHECK-NEXT: %r = tgraph.fused qk_norm_rope(%f = %a : tensor<1x64xf32>, %g = %b : tensor<32x32xf32>, %h = %d : tensor<32x32xf32>, %i = %p : tensor<1xi32>) -> (tensor<1x64xf32>) {
    %r = tgraph.fused qk_norm_rope(%f = %a : tensor<1x64xf32>, %g = %b : tensor<32x32xf32>, %h = %d : tensor<32x32xf32>, %i = %p : tensor<1xi32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %j = tgraph.fused_row rms %f cols 64 eps 1.000000e-06 : tensor<1x64xf32>
      %j = tgraph.fused_row rms %f cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  // CHECK-NEXT: %k = tgraph.rope %j, %g, %h at %i heads 1 head_dim 64 half 32 : (tensor<1x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<1x64xf32>
      %k = tgraph.rope %j, %g, %h at %i heads 1 head_dim 64 half 32 : (tensor<1x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %k : tensor<1x64xf32>
      tgraph.yield %k : tensor<1x64xf32>
  // CHECK-NEXT: }
    }
  // CHECK-NEXT: %l = tgraph.set_row %e, %r at %p : (tensor<32x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<32x64xf32>
    %l = tgraph.set_row %e, %r at %p : (tensor<32x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<32x64xf32>
  // CHECK-NEXT: tgraph.yield %l : tensor<32x64xf32>
    tgraph.yield %l : tensor<32x64xf32>
  // CHECK-NEXT: }
  }

  // GENERIC: %u = "tgraph.fused"(%x, %c, %s, %t, %pos) <{fusion_class = #tgraph<fusion_class row_in_place>}> ({
  // GENERIC-NEXT: ^bb0(%a: tensor<1x64xf32>, %b: tensor<32x32xf32>, %d: tensor<32x32xf32>, %e: tensor<32x64xf32>, %p: tensor<1xi32>):
  // GENERIC-NEXT: %r = "tgraph.fused"(%a, %b, %d, %p) <{fusion_class = #tgraph<fusion_class qk_norm_rope>}> ({
  // GENERIC-NEXT: ^bb0(%f: tensor<1x64xf32>, %g: tensor<32x32xf32>, %h: tensor<32x32xf32>, %i: tensor<1xi32>):
  // GENERIC-NEXT: %j = "tgraph.fused_row"(%f) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.000000e-06 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x64xf32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %k = "tgraph.rope"(%j, %g, %h, %i) <{heads = 1 : i64, head_dim = 64 : i64, half = 32 : i64}> : (tensor<1x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: "tgraph.yield"(%k) : (tensor<1x64xf32>) -> ()
  // GENERIC-NEXT: }) : (tensor<1x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %l = "tgraph.set_row"(%e, %r, %p) : (tensor<32x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<32x64xf32>
  // GENERIC-NEXT: "tgraph.yield"(%l) : (tensor<32x64xf32>) -> ()
  // GENERIC-NEXT: }) : (tensor<1x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x64xf32>, tensor<1xi32>) -> tensor<32x64xf32>
  func.return
}

// Every class by name.
// CHECK-LABEL: func.func @classes(
// GENERIC-LABEL: sym_name = "classes"
func.func @classes(%x: tensor<1x64xf32>) {
  // CHECK-NEXT: %r0 = tgraph.fused add_norm(%a0 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r0 = tgraph.fused add_norm(%a0 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b0 = tgraph.silu %a0 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b0 = tgraph.silu %a0 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c0 = tgraph.sigmoid %b0 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c0 = tgraph.sigmoid %b0 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c0 : tensor<1x64xf32>
    tgraph.yield %c0 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r1 = tgraph.fused norm_quant(%a1 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r1 = tgraph.fused norm_quant(%a1 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b1 = tgraph.silu %a1 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b1 = tgraph.silu %a1 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c1 = tgraph.sigmoid %b1 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c1 = tgraph.sigmoid %b1 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c1 : tensor<1x64xf32>
    tgraph.yield %c1 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r2 = tgraph.fused add_norm_quant(%a2 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r2 = tgraph.fused add_norm_quant(%a2 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b2 = tgraph.silu %a2 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b2 = tgraph.silu %a2 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c2 = tgraph.sigmoid %b2 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c2 = tgraph.sigmoid %b2 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c2 : tensor<1x64xf32>
    tgraph.yield %c2 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r3 = tgraph.fused elementwise_quant(%a3 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r3 = tgraph.fused elementwise_quant(%a3 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b3 = tgraph.silu %a3 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b3 = tgraph.silu %a3 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c3 = tgraph.sigmoid %b3 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c3 = tgraph.sigmoid %b3 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c3 : tensor<1x64xf32>
    tgraph.yield %c3 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r4 = tgraph.fused glu_act_mul_quant(%a4 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r4 = tgraph.fused glu_act_mul_quant(%a4 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b4 = tgraph.silu %a4 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b4 = tgraph.silu %a4 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c4 = tgraph.sigmoid %b4 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c4 = tgraph.sigmoid %b4 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c4 : tensor<1x64xf32>
    tgraph.yield %c4 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r5 = tgraph.fused gemv_quant(%a5 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r5 = tgraph.fused gemv_quant(%a5 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b5 = tgraph.silu %a5 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b5 = tgraph.silu %a5 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c5 = tgraph.sigmoid %b5 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c5 = tgraph.sigmoid %b5 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c5 : tensor<1x64xf32>
    tgraph.yield %c5 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r6 = tgraph.fused attn_output_quant(%a6 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r6 = tgraph.fused attn_output_quant(%a6 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b6 = tgraph.silu %a6 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b6 = tgraph.silu %a6 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c6 = tgraph.sigmoid %b6 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c6 = tgraph.sigmoid %b6 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c6 : tensor<1x64xf32>
    tgraph.yield %c6 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r7 = tgraph.fused gemm_bias(%a7 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r7 = tgraph.fused gemm_bias(%a7 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b7 = tgraph.silu %a7 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b7 = tgraph.silu %a7 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c7 = tgraph.sigmoid %b7 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c7 = tgraph.sigmoid %b7 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c7 : tensor<1x64xf32>
    tgraph.yield %c7 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r8 = tgraph.fused gemv_norm_epilogue(%a8 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r8 = tgraph.fused gemv_norm_epilogue(%a8 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b8 = tgraph.silu %a8 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b8 = tgraph.silu %a8 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c8 = tgraph.sigmoid %b8 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c8 = tgraph.sigmoid %b8 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c8 : tensor<1x64xf32>
    tgraph.yield %c8 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r9 = tgraph.fused embed_norm(%a9 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r9 = tgraph.fused embed_norm(%a9 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b9 = tgraph.silu %a9 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b9 = tgraph.silu %a9 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c9 = tgraph.sigmoid %b9 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c9 = tgraph.sigmoid %b9 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c9 : tensor<1x64xf32>
    tgraph.yield %c9 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r10 = tgraph.fused embed_scale(%a10 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r10 = tgraph.fused embed_scale(%a10 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b10 = tgraph.silu %a10 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b10 = tgraph.silu %a10 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c10 = tgraph.sigmoid %b10 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c10 = tgraph.sigmoid %b10 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c10 : tensor<1x64xf32>
    tgraph.yield %c10 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r11 = tgraph.fused qk_norm_rope(%a11 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r11 = tgraph.fused qk_norm_rope(%a11 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b11 = tgraph.silu %a11 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b11 = tgraph.silu %a11 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c11 = tgraph.sigmoid %b11 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c11 = tgraph.sigmoid %b11 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c11 : tensor<1x64xf32>
    tgraph.yield %c11 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r12 = tgraph.fused rope_qk_one_launch(%a12 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r12 = tgraph.fused rope_qk_one_launch(%a12 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b12 = tgraph.silu %a12 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b12 = tgraph.silu %a12 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c12 = tgraph.sigmoid %b12 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c12 = tgraph.sigmoid %b12 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c12 : tensor<1x64xf32>
    tgraph.yield %c12 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r13 = tgraph.fused qkv_head_epilogue(%a13 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r13 = tgraph.fused qkv_head_epilogue(%a13 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b13 = tgraph.silu %a13 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b13 = tgraph.silu %a13 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c13 = tgraph.sigmoid %b13 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c13 = tgraph.sigmoid %b13 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c13 : tensor<1x64xf32>
    tgraph.yield %c13 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r14 = tgraph.fused merged_qkv(%a14 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r14 = tgraph.fused merged_qkv(%a14 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b14 = tgraph.silu %a14 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b14 = tgraph.silu %a14 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c14 = tgraph.sigmoid %b14 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c14 = tgraph.sigmoid %b14 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c14 : tensor<1x64xf32>
    tgraph.yield %c14 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r15 = tgraph.fused glu_act_mul(%a15 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r15 = tgraph.fused glu_act_mul(%a15 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b15 = tgraph.silu %a15 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b15 = tgraph.silu %a15 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c15 = tgraph.sigmoid %b15 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c15 = tgraph.sigmoid %b15 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c15 : tensor<1x64xf32>
    tgraph.yield %c15 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r16 = tgraph.fused gemv_gate_up_glu(%a16 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r16 = tgraph.fused gemv_gate_up_glu(%a16 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b16 = tgraph.silu %a16 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b16 = tgraph.silu %a16 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c16 = tgraph.sigmoid %b16 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c16 = tgraph.sigmoid %b16 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c16 : tensor<1x64xf32>
    tgraph.yield %c16 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r17 = tgraph.fused row_in_place(%a17 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r17 = tgraph.fused row_in_place(%a17 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b17 = tgraph.silu %a17 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b17 = tgraph.silu %a17 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c17 = tgraph.sigmoid %b17 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c17 = tgraph.sigmoid %b17 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c17 : tensor<1x64xf32>
    tgraph.yield %c17 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r18 = tgraph.fused fused_sampling(%a18 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r18 = tgraph.fused fused_sampling(%a18 = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  // CHECK-NEXT: %b18 = tgraph.silu %a18 : tensor<1x64xf32> -> tensor<1x64xf32>
    %b18 = tgraph.silu %a18 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: %c18 = tgraph.sigmoid %b18 : tensor<1x64xf32> -> tensor<1x64xf32>
    %c18 = tgraph.sigmoid %b18 : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: tgraph.yield %c18 : tensor<1x64xf32>
    tgraph.yield %c18 : tensor<1x64xf32>
  // CHECK-NEXT: }
  }
  // GENERIC: %r0 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
  // GENERIC: %r1 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class norm_quant>}> ({
  // GENERIC: %r2 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm_quant>}> ({
  // GENERIC: %r3 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class elementwise_quant>}> ({
  // GENERIC: %r4 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class glu_act_mul_quant>}> ({
  // GENERIC: %r5 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class gemv_quant>}> ({
  // GENERIC: %r6 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class attn_output_quant>}> ({
  // GENERIC: %r7 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class gemm_bias>}> ({
  // GENERIC: %r8 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class gemv_norm_epilogue>}> ({
  // GENERIC: %r9 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class embed_norm>}> ({
  // GENERIC: %r10 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class embed_scale>}> ({
  // GENERIC: %r11 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class qk_norm_rope>}> ({
  // GENERIC: %r12 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class rope_qk_one_launch>}> ({
  // GENERIC: %r13 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class qkv_head_epilogue>}> ({
  // GENERIC: %r14 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class merged_qkv>}> ({
  // GENERIC: %r15 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class glu_act_mul>}> ({
  // GENERIC: %r16 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class gemv_gate_up_glu>}> ({
  // GENERIC: %r17 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class row_in_place>}> ({
  // GENERIC: %r18 = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class fused_sampling>}> ({
  func.return
}
