// RUN: lanelink-opt %s -p legalize-shim --split-input-file | filecheck %s

// What else the kernels of a layer's classes need: of each predicate a fused op that fits, which stays, and one that does
// not, which becomes its parts; a fused op of any origin may ask. The reasons are checked by tests/passes/test_fits_layers.py.

// Both norms of a sandwich are over the whole row.
// CHECK-LABEL: func.func @one_width_fits(
// CHECK: tgraph.fused norm_then_add(
func.func @one_width_fits(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<64xf32>
  %o = tgraph.fused norm_then_add(%x_1 = %x : tensor<1x64xf32>, %w_1 = %w : tensor<64xf32>, %y_1 = %y : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %n = tgraph.fused_row rms %x_1 weight %w_1 : tensor<64xf32> cols 64 eps 1.000000e+00 number 0 : tensor<1x64xf32>
    %o_1 = tgraph.fused add_norm(%y_2 = %y_1 : tensor<1x64xf32>, %n_1 = %n : tensor<1x64xf32>, %w_2 = %w_1 : tensor<64xf32>) -> (tensor<1x64xf32>) {
      %s = tgraph.elementwise add %y_2, %n_1 number 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      %o_2 = tgraph.fused_row rms %s weight %w_2 : tensor<64xf32> cols 64 eps 1.000000e+00 number 2 : tensor<1x64xf32>
      tgraph.yield %o_2 : tensor<1x64xf32>
    }
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// The outer one is over groups.
// Why: expected norms of the whole row of 64 values, got groups of 32
// CHECK-LABEL: func.func @one_width(
// CHECK-NOT: tgraph.fused norm_then_add
// CHECK: func.return
func.func @one_width(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %v = tgraph.constant #tgraph.checkpoint<"v"> : tensor<32xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<64xf32>
  %o = tgraph.fused norm_then_add(%x_1 = %x : tensor<1x64xf32>, %w_1 = %w : tensor<64xf32>, %y_1 = %y : tensor<1x64xf32>, %v_1 = %v : tensor<32xf32>) -> (tensor<1x64xf32>) {
    %n = tgraph.fused_row rms %x_1 weight %w_1 : tensor<64xf32> cols 64 eps 1.000000e+00 number 0 : tensor<1x64xf32>
    %o_1 = tgraph.fused add_norm(%y_2 = %y_1 : tensor<1x64xf32>, %n_1 = %n : tensor<1x64xf32>, %v_2 = %v_1 : tensor<32xf32>) -> (tensor<1x64xf32>) {
      %s = tgraph.elementwise add %y_2, %n_1 number 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      %o_2 = tgraph.fused_row rms %s weight %v_2 : tensor<32xf32> cols 32 eps 1.000000e+00 number 2 : tensor<1x64xf32>
      tgraph.yield %o_2 : tensor<1x64xf32>
    }
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// The shared expert's hidden row is quantized as the experts' are.
// CHECK-LABEL: func.func @same_forms_fits(
// CHECK: tgraph.fused shared_expert_fusion(
func.func @same_forms_fits(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : tensor<64x4xf32>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x32, transposed>
  %sg = tgraph.constant #tgraph.checkpoint<"sg"> : !tgraph.rows<q8_0, 128x64, transposed>
  %sd = tgraph.constant #tgraph.checkpoint<"sd"> : !tgraph.rows<q8_0, 64x128, transposed>
  %gw = tgraph.constant #tgraph.checkpoint<"gw"> : !tgraph.rows<bf16, 1x64, transposed>
  %q = tgraph.quantize %x number 0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %o = tgraph.fused shared_expert_fusion(%q_1 = %q : !tgraph.q8<1x64>, %r_1 = %r : tensor<64x4xf32>, %g_1 = %g : !tgraph.rows<q8_0, 128x64, transposed>, %d_1 = %d : !tgraph.rows<q8_0, 256x32, transposed>, %x_1 = %x : tensor<1x64xf32>, %sg_1 = %sg : !tgraph.rows<q8_0, 128x64, transposed>, %sd_1 = %sd : !tgraph.rows<q8_0, 64x128, transposed>, %gw_1 = %gw : !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>) {
    %m = tgraph.moe softmax silu %q_1, %r_1, %g_1, %g_1, %d_1 router_x %x_1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 number 1 : !tgraph.q8<1x64>, tensor<64x4xf32>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %h = tgraph.fused glu_act_mul_quant(%q_2 = %q_1 : !tgraph.q8<1x64>, %sg_2 = %sg_1 : !tgraph.rows<q8_0, 128x64, transposed>) -> (!tgraph.q8<1x128>) {
      %s = tgraph.fused gemv_gate_up_glu(%q_3 = %q_2 : !tgraph.q8<1x64>, %sg_3 = %sg_2 : !tgraph.rows<q8_0, 128x64, transposed>) -> (tensor<1x128xf32>) {
        %a = tgraph.matmul %q_3, %sg_3 number 2 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %b = tgraph.matmul %q_3, %sg_3 number 3 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %s_1 = tgraph.swiglu %a, %b number 4 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
        tgraph.yield %s_1 : tensor<1x128xf32>
      }
      %h_1 = tgraph.quantize %s number 5 : tensor<1x128xf32> -> !tgraph.q8<1x128>
      tgraph.yield %h_1 : !tgraph.q8<1x128>
    }
    %y = tgraph.matmul %h, %sd_1 number 6 : (!tgraph.q8<1x128>, !tgraph.rows<q8_0, 64x128, transposed>) -> tensor<1x64xf32>
    %p = tgraph.matmul %x_1, %gw_1 number 7 : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
    %c = tgraph.sigmoid %p number 8 : tensor<1x1xf32> -> tensor<1x1xf32>
    %z = tgraph.elementwise mul %y, %c number 9 : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
    %o_1 = tgraph.elementwise add %m, %z number 10 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// It is not, for its down product is by rows of another format.
// Why: expected a shared expert's hidden row in 1 planes as the experts', got 0
// CHECK-LABEL: func.func @same_forms(
// CHECK-NOT: tgraph.fused shared_expert_fusion
// CHECK: func.return
func.func @same_forms(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : tensor<64x4xf32>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x32, transposed>
  %sg = tgraph.constant #tgraph.checkpoint<"sg"> : !tgraph.rows<q8_0, 128x64, transposed>
  %sd = tgraph.constant #tgraph.checkpoint<"sd"> : !tgraph.rows<bf16, 64x128, transposed>
  %gw = tgraph.constant #tgraph.checkpoint<"gw"> : !tgraph.rows<bf16, 1x64, transposed>
  %q = tgraph.quantize %x number 0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %o = tgraph.fused shared_expert_fusion(%q_1 = %q : !tgraph.q8<1x64>, %r_1 = %r : tensor<64x4xf32>, %g_1 = %g : !tgraph.rows<q8_0, 128x64, transposed>, %d_1 = %d : !tgraph.rows<q8_0, 256x32, transposed>, %x_1 = %x : tensor<1x64xf32>, %sg_1 = %sg : !tgraph.rows<q8_0, 128x64, transposed>, %sd_1 = %sd : !tgraph.rows<bf16, 64x128, transposed>, %gw_1 = %gw : !tgraph.rows<bf16, 1x64, transposed>) -> (tensor<1x64xf32>) {
    %m = tgraph.moe softmax silu %q_1, %r_1, %g_1, %g_1, %d_1 router_x %x_1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 number 1 : !tgraph.q8<1x64>, tensor<64x4xf32>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %s = tgraph.fused gemv_gate_up_glu(%q_2 = %q_1 : !tgraph.q8<1x64>, %sg_2 = %sg_1 : !tgraph.rows<q8_0, 128x64, transposed>) -> (tensor<1x128xf32>) {
      %a = tgraph.matmul %q_2, %sg_2 number 2 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
      %b = tgraph.matmul %q_2, %sg_2 number 3 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
      %s_1 = tgraph.swiglu %a, %b number 4 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
      tgraph.yield %s_1 : tensor<1x128xf32>
    }
    %y = tgraph.matmul %s, %sd_1 number 5 : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<1x64xf32>
    %p = tgraph.matmul %x_1, %gw_1 number 6 : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
    %c = tgraph.sigmoid %p number 7 : tensor<1x1xf32> -> tensor<1x1xf32>
    %z = tgraph.elementwise mul %y, %c number 8 : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
    %o_1 = tgraph.elementwise add %m, %z number 9 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// The shared expert's gate by blocks reads the quantized rows, as a router by blocks does.
// CHECK-LABEL: func.func @same_rows_fits(
// CHECK: tgraph.fused shared_expert_fusion(
func.func @same_rows_fits(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : tensor<64x4xf32>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x32, transposed>
  %sg = tgraph.constant #tgraph.checkpoint<"sg"> : !tgraph.rows<q8_0, 128x64, transposed>
  %sd = tgraph.constant #tgraph.checkpoint<"sd"> : !tgraph.rows<q8_0, 64x128, transposed>
  %gw = tgraph.constant #tgraph.checkpoint<"gw"> : !tgraph.rows<q8_0, 1x64, transposed>
  %q = tgraph.quantize %x number 0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %o = tgraph.fused shared_expert_fusion(%q_1 = %q : !tgraph.q8<1x64>, %r_1 = %r : tensor<64x4xf32>, %g_1 = %g : !tgraph.rows<q8_0, 128x64, transposed>, %d_1 = %d : !tgraph.rows<q8_0, 256x32, transposed>, %x_1 = %x : tensor<1x64xf32>, %sg_1 = %sg : !tgraph.rows<q8_0, 128x64, transposed>, %sd_1 = %sd : !tgraph.rows<q8_0, 64x128, transposed>, %gw_1 = %gw : !tgraph.rows<q8_0, 1x64, transposed>) -> (tensor<1x64xf32>) {
    %m = tgraph.moe softmax silu %q_1, %r_1, %g_1, %g_1, %d_1 router_x %x_1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 number 1 : !tgraph.q8<1x64>, tensor<64x4xf32>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %h = tgraph.fused glu_act_mul_quant(%q_2 = %q_1 : !tgraph.q8<1x64>, %sg_2 = %sg_1 : !tgraph.rows<q8_0, 128x64, transposed>) -> (!tgraph.q8<1x128>) {
      %s = tgraph.fused gemv_gate_up_glu(%q_3 = %q_2 : !tgraph.q8<1x64>, %sg_3 = %sg_2 : !tgraph.rows<q8_0, 128x64, transposed>) -> (tensor<1x128xf32>) {
        %a = tgraph.matmul %q_3, %sg_3 number 2 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %b = tgraph.matmul %q_3, %sg_3 number 3 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %s_1 = tgraph.swiglu %a, %b number 4 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
        tgraph.yield %s_1 : tensor<1x128xf32>
      }
      %h_1 = tgraph.quantize %s number 5 : tensor<1x128xf32> -> !tgraph.q8<1x128>
      tgraph.yield %h_1 : !tgraph.q8<1x128>
    }
    %y = tgraph.matmul %h, %sd_1 number 6 : (!tgraph.q8<1x128>, !tgraph.rows<q8_0, 64x128, transposed>) -> tensor<1x64xf32>
    %p = tgraph.matmul %q_1, %gw_1 number 7 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 1x64, transposed>) -> tensor<1x1xf32>
    %c = tgraph.sigmoid %p number 8 : tensor<1x1xf32> -> tensor<1x1xf32>
    %z = tgraph.elementwise mul %y, %c number 9 : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
    %o_1 = tgraph.elementwise add %m, %z number 10 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// It reads the f32 rows.
// Why: expected the shared expert's gate to read what a router of its form would
// CHECK-LABEL: func.func @same_rows(
// CHECK-NOT: tgraph.fused shared_expert_fusion
// CHECK: func.return
func.func @same_rows(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : tensor<64x4xf32>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x32, transposed>
  %sg = tgraph.constant #tgraph.checkpoint<"sg"> : !tgraph.rows<q8_0, 128x64, transposed>
  %sd = tgraph.constant #tgraph.checkpoint<"sd"> : !tgraph.rows<q8_0, 64x128, transposed>
  %gw = tgraph.constant #tgraph.checkpoint<"gw"> : !tgraph.rows<q8_0, 1x64, transposed>
  %q = tgraph.quantize %x number 0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %o = tgraph.fused shared_expert_fusion(%q_1 = %q : !tgraph.q8<1x64>, %r_1 = %r : tensor<64x4xf32>, %g_1 = %g : !tgraph.rows<q8_0, 128x64, transposed>, %d_1 = %d : !tgraph.rows<q8_0, 256x32, transposed>, %x_1 = %x : tensor<1x64xf32>, %sg_1 = %sg : !tgraph.rows<q8_0, 128x64, transposed>, %sd_1 = %sd : !tgraph.rows<q8_0, 64x128, transposed>, %gw_1 = %gw : !tgraph.rows<q8_0, 1x64, transposed>) -> (tensor<1x64xf32>) {
    %m = tgraph.moe softmax silu %q_1, %r_1, %g_1, %g_1, %d_1 router_x %x_1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 number 1 : !tgraph.q8<1x64>, tensor<64x4xf32>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %h = tgraph.fused glu_act_mul_quant(%q_2 = %q_1 : !tgraph.q8<1x64>, %sg_2 = %sg_1 : !tgraph.rows<q8_0, 128x64, transposed>) -> (!tgraph.q8<1x128>) {
      %s = tgraph.fused gemv_gate_up_glu(%q_3 = %q_2 : !tgraph.q8<1x64>, %sg_3 = %sg_2 : !tgraph.rows<q8_0, 128x64, transposed>) -> (tensor<1x128xf32>) {
        %a = tgraph.matmul %q_3, %sg_3 number 2 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %b = tgraph.matmul %q_3, %sg_3 number 3 : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x64, transposed>) -> tensor<1x128xf32>
        %s_1 = tgraph.swiglu %a, %b number 4 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
        tgraph.yield %s_1 : tensor<1x128xf32>
      }
      %h_1 = tgraph.quantize %s number 5 : tensor<1x128xf32> -> !tgraph.q8<1x128>
      tgraph.yield %h_1 : !tgraph.q8<1x128>
    }
    %y = tgraph.matmul %h, %sd_1 number 6 : (!tgraph.q8<1x128>, !tgraph.rows<q8_0, 64x128, transposed>) -> tensor<1x64xf32>
    %p = tgraph.matmul %x_1, %gw_1 number 7 : (tensor<1x64xf32>, !tgraph.rows<q8_0, 1x64, transposed>) -> tensor<1x1xf32>
    %c = tgraph.sigmoid %p number 8 : tensor<1x1xf32> -> tensor<1x1xf32>
    %z = tgraph.elementwise mul %y, %c number 9 : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
    %o_1 = tgraph.elementwise add %m, %z number 10 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
    tgraph.yield %o_1 : tensor<1x64xf32>
  }
  func.return %o : tensor<1x64xf32>
}

// -----

// Four convolutions are one launch's.
// CHECK-LABEL: func.func @few_convolutions_fits(
// CHECK: tgraph.fused conv_parts(
func.func @few_convolutions_fits(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %ring0: tensor<3x64xf32>, %ring1: tensor<3x64xf32>, %ring2: tensor<3x64xf32>, %ring3: tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<64x4xf32>
  %s0, %s1, %s2, %s3 = tgraph.fused conv_parts(%x_1 = %x : tensor<1x64xf32>, %t_1 = %t : tensor<64x4xf32>, %ring0_1 = %ring0 : tensor<3x64xf32>, %ring1_1 = %ring1 : tensor<3x64xf32>, %ring2_1 = %ring2 : tensor<3x64xf32>, %ring3_1 = %ring3 : tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
    %s0_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring0_2 = %ring0_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c0, %r0 = tgraph.causal_conv %x_2, %t_2, %ring0_2 number 0 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s0_2 = tgraph.silu %c0 number 1 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s0_2 : tensor<1x64xf32>
    }
    %s1_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring1_2 = %ring1_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c1, %r1 = tgraph.causal_conv %x_2, %t_2, %ring1_2 number 2 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s1_2 = tgraph.silu %c1 number 3 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s1_2 : tensor<1x64xf32>
    }
    %s2_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring2_2 = %ring2_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c2, %r2 = tgraph.causal_conv %x_2, %t_2, %ring2_2 number 4 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s2_2 = tgraph.silu %c2 number 5 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s2_2 : tensor<1x64xf32>
    }
    %s3_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring3_2 = %ring3_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c3, %r3 = tgraph.causal_conv %x_2, %t_2, %ring3_2 number 6 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s3_2 = tgraph.silu %c3 number 7 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s3_2 : tensor<1x64xf32>
    }
    tgraph.yield %s0_1, %s1_1, %s2_1, %s3_1 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
  }
  func.return %s0, %s1, %s2, %s3 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// Five are not.
// Why: expected at most 4 convolutions, got 5
// CHECK-LABEL: func.func @few_convolutions(
// CHECK-NOT: tgraph.fused conv_parts
// CHECK: func.return
func.func @few_convolutions(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %ring0: tensor<3x64xf32>, %ring1: tensor<3x64xf32>, %ring2: tensor<3x64xf32>, %ring3: tensor<3x64xf32>, %ring4: tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<64x4xf32>
  %s0, %s1, %s2, %s3, %s4 = tgraph.fused conv_parts(%x_1 = %x : tensor<1x64xf32>, %t_1 = %t : tensor<64x4xf32>, %ring0_1 = %ring0 : tensor<3x64xf32>, %ring1_1 = %ring1 : tensor<3x64xf32>, %ring2_1 = %ring2 : tensor<3x64xf32>, %ring3_1 = %ring3 : tensor<3x64xf32>, %ring4_7 = %ring4 : tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
    %s0_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring0_2 = %ring0_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c0, %r0 = tgraph.causal_conv %x_2, %t_2, %ring0_2 number 0 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s0_2 = tgraph.silu %c0 number 1 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s0_2 : tensor<1x64xf32>
    }
    %s1_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring1_2 = %ring1_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c1, %r1 = tgraph.causal_conv %x_2, %t_2, %ring1_2 number 2 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s1_2 = tgraph.silu %c1 number 3 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s1_2 : tensor<1x64xf32>
    }
    %s2_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring2_2 = %ring2_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c2, %r2 = tgraph.causal_conv %x_2, %t_2, %ring2_2 number 4 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s2_2 = tgraph.silu %c2 number 5 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s2_2 : tensor<1x64xf32>
    }
    %s3_1 = tgraph.fused conv_bias_silu(%x_2 = %x_1 : tensor<1x64xf32>, %t_2 = %t_1 : tensor<64x4xf32>, %ring3_2 = %ring3_1 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c3, %r3 = tgraph.causal_conv %x_2, %t_2, %ring3_2 number 6 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s3_2 = tgraph.silu %c3 number 7 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s3_2 : tensor<1x64xf32>
    }
    %s4_7 = tgraph.fused conv_bias_silu(%x_9 = %x_1 : tensor<1x64xf32>, %t_9 = %t_1 : tensor<64x4xf32>, %ring4_9 = %ring4_7 : tensor<3x64xf32>) -> (tensor<1x64xf32>) {
      %c4, %r4 = tgraph.causal_conv %x_9, %t_9, %ring4_9 number 8 : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
      %s4_1 = tgraph.silu %c4 number 9 : tensor<1x64xf32> -> tensor<1x64xf32>
      tgraph.yield %s4_1 : tensor<1x64xf32>
    }
    tgraph.yield %s0_1, %s1_1, %s2_1, %s3_1, %s4_7 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
  }
  func.return %s0, %s1, %s2, %s3, %s4 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// The query's rotated part comes in.
// CHECK-LABEL: func.func @query_outside_fits(
// CHECK: tgraph.fused mla(
func.func @query_outside_fits(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> tensor<43x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<43x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<43x64xf32>, %t_1 = %t : tensor<64x160xf32>, %pos_1 = %pos : tensor<1xi32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<43x64xf32>) {
    %b = tgraph.fused part_in_place(%q_2 = %q_1 : tensor<43x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<43x256xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<43x128xf32> -> tensor<43x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<43x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<43x256xf32>
      tgraph.yield %b_1 : tensor<43x256xf32>
    }
    %j = tgraph.join %b, %e_1 heads 2 number 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf32>, %j_1 = %j : tensor<43x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<43x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf32> -> tensor<64x128xf32>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
      tgraph.yield %a_1 : tensor<43x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
    tgraph.yield %o_1 : tensor<43x64xf32>
  }
  func.return %o : tensor<43x64xf32>
}

// -----

// It is made beside the absorption, and joined apart from both.
// Why: expected the query's rotated part to come in, or beside the product joined with it
// CHECK-LABEL: func.func @query_outside(
// CHECK-NOT: tgraph.fused mla
// CHECK: func.return
func.func @query_outside(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> tensor<43x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %cos = tgraph.constant #tgraph.checkpoint<"cos"> : tensor<64x16xf32>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<43x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<43x64xf32>, %t_1 = %t : tensor<64x160xf32>, %pos_1 = %pos : tensor<1xi32>, %cos_1 = %cos : tensor<64x16xf32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<43x64xf32>) {
    %b, %turned = tgraph.fused part_in_place(%e_2 = %e_1 : tensor<43x64xf32>, %cos_2 = %cos_1 : tensor<64x16xf32>, %pos_3 = %pos_1 : tensor<1xi32>, %q_2 = %q_1 : tensor<43x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<43x256xf32>, tensor<43x64xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<43x128xf32> -> tensor<43x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<43x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<43x256xf32>
      %turned_1 = tgraph.rope %e_2, %cos_2, %cos_2 at %pos_3 heads 2 head_dim 32 half 16 number 6 : (tensor<43x64xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<1xi32>) -> tensor<43x64xf32>
      tgraph.yield %b_1, %turned_1 : tensor<43x256xf32>, tensor<43x64xf32>
    }
    %j = tgraph.join %b, %turned heads 2 number 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf32>, %j_1 = %j : tensor<43x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<43x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf32> -> tensor<64x128xf32>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
      tgraph.yield %a_1 : tensor<43x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
    tgraph.yield %o_1 : tensor<43x64xf32>
  }
  func.return %o : tensor<43x64xf32>
}

// -----

// 43 rows cost less expanded: 43 * (2 * 128 - 32 - 32) is more than 128 * (32 + 32).
// CHECK-LABEL: func.func @wide_chunk_fits(
// CHECK: tgraph.fused mla(
func.func @wide_chunk_fits(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> tensor<43x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<43x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<43x64xf32>, %t_1 = %t : tensor<64x160xf32>, %pos_1 = %pos : tensor<1xi32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<43x64xf32>) {
    %b = tgraph.fused part_in_place(%q_2 = %q_1 : tensor<43x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<43x256xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<43x128xf32> -> tensor<43x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<43x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<43x256xf32>
      tgraph.yield %b_1 : tensor<43x256xf32>
    }
    %j = tgraph.join %b, %e_1 heads 2 number 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf32>, %j_1 = %j : tensor<43x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<43x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf32> -> tensor<64x128xf32>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
      tgraph.yield %a_1 : tensor<43x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
    tgraph.yield %o_1 : tensor<43x64xf32>
  }
  func.return %o : tensor<43x64xf32>
}

// -----

// 42 rows do not.
// Why: expected a chunk that costs less expanded, got 42 rows of 128 to 32 and 32 values
// CHECK-LABEL: func.func @wide_chunk(
// CHECK-NOT: tgraph.fused mla
// CHECK: func.return
func.func @wide_chunk(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<42x128xf32>, %e: tensor<42x64xf32>, %t: tensor<64x160xf32>) -> tensor<42x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<42x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<42x64xf32>, %t_1 = %t : tensor<64x160xf32>, %pos_1 = %pos : tensor<1xi32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<42x64xf32>) {
    %b = tgraph.fused part_in_place(%q_2 = %q_1 : tensor<42x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<42x256xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<42x128xf32> -> tensor<42x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<42x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<42x256xf32>
      tgraph.yield %b_1 : tensor<42x256xf32>
    }
    %j = tgraph.join %b, %e_1 heads 2 number 2 : (tensor<42x256xf32>, tensor<42x64xf32>) -> tensor<42x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf32>, %j_1 = %j : tensor<42x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<42x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf32> -> tensor<64x128xf32>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<42x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<42x256xf32>
      tgraph.yield %a_1 : tensor<42x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<42x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<42x64xf32>
    tgraph.yield %o_1 : tensor<42x64xf32>
  }
  func.return %o : tensor<42x64xf32>
}

// -----

// CHECK-LABEL: func.func @expanded_from_f32_fits(
// CHECK: tgraph.fused mla(
func.func @expanded_from_f32_fits(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> tensor<43x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<43x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<43x64xf32>, %t_1 = %t : tensor<64x160xf32>, %pos_1 = %pos : tensor<1xi32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<43x64xf32>) {
    %b = tgraph.fused part_in_place(%q_2 = %q_1 : tensor<43x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<43x256xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<43x128xf32> -> tensor<43x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<43x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<43x256xf32>
      tgraph.yield %b_1 : tensor<43x256xf32>
    }
    %j = tgraph.join %b, %e_1 heads 2 number 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf32>, %j_1 = %j : tensor<43x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<43x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf32> -> tensor<64x128xf32>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
      tgraph.yield %a_1 : tensor<43x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
    tgraph.yield %o_1 : tensor<43x64xf32>
  }
  func.return %o : tensor<43x64xf32>
}

// -----

// The same over a table of f16, whose rows no kernel expands.
// Why: expected a table of f32 to expand, got tensor<64x160xf16>
// CHECK-LABEL: func.func @expanded_from_f32(
// CHECK-NOT: tgraph.fused mla
// CHECK: func.return
func.func @expanded_from_f32(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf16>) -> tensor<43x64xf32> {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 256x32, transposed>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %o = tgraph.fused mla(%q_1 = %q : tensor<43x128xf32>, %kb_1 = %kb : !tgraph.rows<bf16, 256x32, transposed>, %e_1 = %e : tensor<43x64xf32>, %t_1 = %t : tensor<64x160xf16>, %pos_1 = %pos : tensor<1xi32>, %vb_1 = %vb : !tgraph.rows<bf16, 64x128, transposed>) -> (tensor<43x64xf32>) {
    %b = tgraph.fused part_in_place(%q_2 = %q_1 : tensor<43x128xf32>, %kb_2 = %kb_1 : !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<43x256xf32>) {
      %n = tgraph.head_slice %q_2 start 0 width 32 every 64 number 0 : tensor<43x128xf32> -> tensor<43x64xf32>
      %b_1 = tgraph.head_matmul %n, %kb_2 heads 2 inputs 32 outputs 128 number 1 : (tensor<43x64xf32>, !tgraph.rows<bf16, 256x32, transposed>) -> tensor<43x256xf32>
      tgraph.yield %b_1 : tensor<43x256xf32>
    }
    %j = tgraph.join %b, %e_1 heads 2 number 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
    %a = tgraph.fused part_in_place(%t_2 = %t_1 : tensor<64x160xf16>, %j_1 = %j : tensor<43x320xf32>, %pos_2 = %pos_1 : tensor<1xi32>) -> (tensor<43x256xf32>) {
      %v = tgraph.head_slice %t_2 start 0 width 128 every 160 number 3 : tensor<64x160xf16> -> tensor<64x128xf16>
      %a_1 = tgraph.attention %j_1, %t_2, %v at %pos_2 heads 2 kv_heads 1 head_dim 160 value_dim 128 number 4 : tensor<43x320xf32>, tensor<64x160xf16>, tensor<64x128xf16> -> tensor<43x256xf32>
      tgraph.yield %a_1 : tensor<43x256xf32>
    }
    %o_1 = tgraph.head_matmul %a, %vb_1 heads 2 inputs 128 outputs 32 number 5 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
    tgraph.yield %o_1 : tensor<43x64xf32>
  }
  func.return %o : tensor<43x64xf32>
}
