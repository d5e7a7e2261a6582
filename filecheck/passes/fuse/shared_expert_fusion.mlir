// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The mixture on the left of the sum, and on the right.
// CHECK-LABEL: func.func @left
func.func @left(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %y = tgraph.fused shared_expert_fusion({{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %m = tgraph.moe softmax silu %x_1
  // CHECK:        %h = tgraph.fused gemv_gate_up_glu(
  // CHECK:        %d = tgraph.matmul %h
  // CHECK-NEXT:   %y_1 = tgraph.elementwise add %m, %d
  // CHECK-NEXT:   tgraph.yield %y_1
  // CHECK-NEXT: }
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @right
func.func @right(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.fused shared_expert_fusion(
  // CHECK-NEXT:   tgraph.fused gemv_gate_up_glu(
  // CHECK:        tgraph.moe softmax gelu_tanh
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %c = tgraph.gelu tanh %a : tensor<1x96xf32> -> tensor<1x96xf32>
  %h = tgraph.elementwise mul %c, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %m = tgraph.moe softmax gelu_tanh %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %y = tgraph.elementwise add %d, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// Gated, quantized: the gate reads the f32 rows that the router reads. The norm that follows reads the sum.
// CHECK-LABEL: func.func @gated_quantized
func.func @gated_quantized(%x: tensor<1x64xf32>, %res: tensor<1x64xf32>, %n: tensor<64xf32>, %wc: !tgraph.rows<bf16, 1x64, transposed>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>,
    %sg: !tgraph.rows<q8_0, 96x64, transposed>, %su: !tgraph.rows<q8_0, 96x64, transposed>,
    %sd: !tgraph.rows<q8_0, 64x96, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %x_q8 = tgraph.quantize
  // CHECK-NEXT: %s, %z = tgraph.fused moe_deferred_finalize({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT:   tgraph.fused shared_expert_fusion(
  // CHECK-NEXT:     tgraph.moe softmax silu %x_q8_2, {{.*}} router_x %x_2
  // CHECK:          tgraph.fused glu_act_mul_quant(
  // CHECK-NEXT:       tgraph.fused gemv_gate_up_glu(
  // CHECK:            tgraph.quantize
  // CHECK:          tgraph.matmul
  // CHECK-NEXT:     tgraph.matmul %x_2
  // CHECK-NEXT:     tgraph.sigmoid
  // CHECK-NEXT:     tgraph.elementwise mul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused add_norm(
  %x_q8 = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %m = tgraph.moe softmax silu %x_q8, %r, %wg, %wu, %wd router_x %x : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x_q8, %sg : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x_q8, %su : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %h_q8 = tgraph.quantize %h : tensor<1x96xf32> -> !tgraph.q8<1x96>
  %d = tgraph.matmul %h_q8, %sd : (!tgraph.q8<1x96>, !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %res, %y : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %z = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %s, %z : tensor<1x64xf32>, tensor<1x64xf32>
}

// The rows are quantized where they are normed; without a router that reads them, the gate still reads the same rows.
// CHECK-LABEL: func.func @gate_of_a_norm
func.func @gate_of_a_norm(%i: tensor<1x64xf32>, %wc: !tgraph.rows<bf16, 1x64, transposed>, %rq: !tgraph.rows<q8_0, 4x64, transposed>,
    %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>,
    %sg: !tgraph.rows<q8_0, 96x64, transposed>, %su: !tgraph.rows<q8_0, 96x64, transposed>,
    %sd: !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %x, %x_q8 = tgraph.fused norm_quant(
  // CHECK:      tgraph.fused shared_expert_fusion(
  // CHECK-NEXT:   tgraph.moe
  %x = tgraph.fused_row rms %i cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %x_q8 = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %m = tgraph.moe softmax silu %x_q8, %rq, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<q8_0, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x_q8, %sg : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x_q8, %su : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %h_q8 = tgraph.quantize %h : tensor<1x96xf32> -> !tgraph.q8<1x96>
  %d = tgraph.matmul %h_q8, %sd : (!tgraph.q8<1x96>, !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// Gated, all in f32; the gate of what the router reads beside quantized rows.
// CHECK-LABEL: func.func @gated(
func.func @gated(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.fused shared_expert_fusion(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @gate_of_router_rows
func.func @gate_of_router_rows(%x: !tgraph.q8<1x64>, %rx: tensor<1x64xf32>, %wc: !tgraph.rows<bf16, 1x64, transposed>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>,
    %sg: !tgraph.rows<q8_0, 96x64, transposed>, %su: !tgraph.rows<q8_0, 96x64, transposed>,
    %sd: !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32> {
  // CHECK-NEXT: tgraph.fused shared_expert_fusion(
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd router_x %rx : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %h_q8 = tgraph.quantize %h : tensor<1x96xf32> -> !tgraph.q8<1x96>
  %d = tgraph.matmul %h_q8, %sd : (!tgraph.q8<1x96>, !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %rx, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @mixture_leaves
// CHECK-NOT: shared_expert_fusion
func.func @mixture_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %m : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @down_leaves
// CHECK-NOT: shared_expert_fusion
func.func @down_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %d : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @pair_read
// CHECK-NOT: shared_expert_fusion
func.func @pair_read(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> (tensor<1x64xf32>, tensor<1x96xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %h : tensor<1x64xf32>, tensor<1x96xf32>
}

// The pair's f32 form is read beside its quantized one.
// CHECK-LABEL: func.func @quantized_pair_read
// CHECK-NOT: shared_expert_fusion
func.func @quantized_pair_read(%x: !tgraph.q8<1x64>, %rx: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>,
    %sg: !tgraph.rows<q8_0, 96x64, transposed>, %su: !tgraph.rows<q8_0, 96x64, transposed>,
    %sd: !tgraph.rows<q8_0, 64x96, transposed>) -> (tensor<1x64xf32>, tensor<1x96xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd router_x %rx : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %h_q8 = tgraph.quantize %h : tensor<1x96xf32> -> !tgraph.q8<1x96>
  %d = tgraph.matmul %h_q8, %sd : (!tgraph.q8<1x96>, !tgraph.rows<q8_0, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %h : tensor<1x64xf32>, tensor<1x96xf32>
}

// CHECK-LABEL: func.func @two_activations
// CHECK-NOT: shared_expert_fusion
func.func @two_activations(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>, %z: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %z, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %z, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// Another activation than the experts', or another form of it.
// CHECK-LABEL: func.func @other_activation
// CHECK-NOT: shared_expert_fusion
func.func @other_activation(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax gelu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_gelu
// CHECK-NOT: shared_expert_fusion
func.func @other_gelu(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax gelu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %c = tgraph.gelu tanh %a : tensor<1x96xf32> -> tensor<1x96xf32>
  %h = tgraph.elementwise mul %c, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_sigmoid
// CHECK-NOT: shared_expert_fusion
func.func @other_sigmoid(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %c = tgraph.sigmoid %a : tensor<1x96xf32> -> tensor<1x96xf32>
  %h = tgraph.elementwise mul %c, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// A down product with a bias; a pair with one.
// CHECK-LABEL: func.func @biased
// CHECK-NOT: shared_expert_fusion
func.func @biased(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %bias = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x64xf32>
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d0 = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %d = tgraph.elementwise add %d0, %bias : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @biased_pair
// CHECK-NOT: shared_expert_fusion
func.func @biased_pair(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %bias = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x96xf32>
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a0 = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %a = tgraph.elementwise add %a0, %bias : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @subtracted
// CHECK-NOT: shared_expert_fusion
func.func @subtracted(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise sub %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @no_pair
// CHECK-NOT: shared_expert_fusion
func.func @no_pair(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>, %h: tensor<1x96xf32>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// The gate, or what it is made of, is read elsewhere; it is of other rows; it is no sigmoid; it is a row.
// CHECK-LABEL: func.func @gate_leaves
// CHECK-NOT: shared_expert_fusion
func.func @gate_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>, tensor<1x1xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %f : tensor<1x64xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @gate_product_leaves
// CHECK-NOT: shared_expert_fusion
func.func @gate_product_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>, tensor<1x1xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %e : tensor<1x64xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @gated_expert_leaves
// CHECK-NOT: shared_expert_fusion
func.func @gated_expert_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %k : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @ungated_expert_leaves
// CHECK-NOT: shared_expert_fusion
func.func @ungated_expert_leaves(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y, %d : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @gate_of_other_rows
// CHECK-NOT: shared_expert_fusion
func.func @gate_of_other_rows(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>, %z: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %z, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @gate_silu
// CHECK-NOT: shared_expert_fusion
func.func @gate_silu(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.silu %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @gate_row
// CHECK-NOT: shared_expert_fusion
func.func @gate_row(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>, %wr: !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wr : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %f = tgraph.sigmoid %e : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// The mixture is of what the shared expert gives.
// CHECK-LABEL: func.func @mixture_of_the_shared
// CHECK-NOT: shared_expert_fusion
func.func @mixture_of_the_shared(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32> {
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %m = tgraph.moe softmax silu %d, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// Divided by the gate; a gate with a bias; a down product by values.
// CHECK-LABEL: func.func @divided
// CHECK-NOT: shared_expert_fusion
func.func @divided(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise div %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @biased_gate
// CHECK-NOT: shared_expert_fusion
func.func @biased_gate(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: !tgraph.rows<bf16, 64x96, transposed>,
    %wc: !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x64xf32> {
  %bias = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x1xf32>
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %e0 = tgraph.matmul %x, %wc : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %e = tgraph.elementwise add %e0, %bias : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %f = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>
  %k = tgraph.elementwise mul %d, %f : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %k : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @down_by_values
// CHECK-NOT: shared_expert_fusion
func.func @down_by_values(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>,
    %sg: !tgraph.rows<bf16, 96x64, transposed>, %su: !tgraph.rows<bf16, 96x64, transposed>,
    %sd: tensor<96x64xf32>) -> tensor<1x64xf32> {
  %m = tgraph.moe softmax silu %x, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %sg : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %su : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = tgraph.matmul %h, %sd : (tensor<1x96xf32>, tensor<96x64xf32>) -> tensor<1x64xf32>
  %y = tgraph.elementwise add %m, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}
