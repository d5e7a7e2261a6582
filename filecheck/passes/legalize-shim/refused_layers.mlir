// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file --verify-diagnostics | filecheck %s

// Every row of passes/layer_refusals.py. The same steps a little changed, which pass, are in legal_layers.mlir.

// chunked_window
// CHECK: op 0 tgraph.attention: expected a window of the last positions, got one of the row's own chunk
func.func @chunked_window(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) {
  %y = tgraph.attention %x, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 window 4 chunked : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// delta_gated_by_a_sigmoid
// CHECK: op 0 tgraph.gated_delta: expected an output gated by silu, got sigmoid
func.func @delta_gated_by_a_sigmoid(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>, %b: tensor<1x2xf32>, %s: tensor<64x32xf32>, %n: tensor<32xf32>) {
  %y, %z = tgraph.gated_delta sigmoid %a, %a, %a, %a, %b, %b, %s, %n value_heads 2 key_heads 2 head_dim 32 eps 1.0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  func.return
}

// -----

// delta_head_of_part_of_a_warp
// CHECK: op 0 tgraph.gated_delta: expected heads of a multiple of 32 values, at most 1024, got 48
func.func @delta_head_of_part_of_a_warp(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x96xf32>, %b: tensor<1x2xf32>, %s: tensor<96x48xf32>, %n: tensor<48xf32>) {
  %y, %z = tgraph.gated_delta silu %a, %a, %a, %a, %b, %b, %s, %n value_heads 2 key_heads 2 head_dim 48 eps 1.0 : (tensor<1x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<96x48xf32>, tensor<48xf32>) -> (tensor<1x96xf32>, tensor<96x48xf32>)
  func.return
}

// -----

// wide_delta_head
// CHECK: op 0 tgraph.gated_delta: expected heads of a multiple of 32 values, at most 1024, got 1056
func.func @wide_delta_head(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x1056xf32>, %b: tensor<1x1xf32>, %s: tensor<1056x1056xf32>, %n: tensor<1056xf32>) {
  %y, %z = tgraph.gated_delta silu %a, %a, %a, %a, %b, %b, %s, %n value_heads 1 key_heads 1 head_dim 1056 eps 1.0 : (tensor<1x1056xf32>, tensor<1x1056xf32>, tensor<1x1056xf32>, tensor<1x1056xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1056x1056xf32>, tensor<1056xf32>) -> (tensor<1x1056xf32>, tensor<1056x1056xf32>)
  func.return
}

// -----

// router_of_sigmoids
// CHECK: op 0 tgraph.moe: expected softmax scores that choose experts and weigh their outputs, got scores by sigmoid
func.func @router_of_sigmoids(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe sigmoid silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// router_with_a_selection_bias
// CHECK: op 0 tgraph.moe: expected softmax scores that choose experts and weigh their outputs, got a selection bias
func.func @router_with_a_selection_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %b = tgraph.constant #tgraph.checkpoint<"b"> : tensor<1x4xf32>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d selection_bias %b : tensor<1x4xf32> experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// sigmoid_scores_in_groups
// CHECK: op 0 tgraph.moe: expected softmax scores that choose experts and weigh their outputs, got scores by sigmoid
func.func @sigmoid_scores_in_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe sigmoid silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 renormalize routed_scale 2.5 groups 2 kept 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// selection_bias_in_groups
// CHECK: op 0 tgraph.moe: expected softmax scores that choose experts and weigh their outputs, got a selection bias
func.func @selection_bias_in_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %b = tgraph.constant #tgraph.checkpoint<"b"> : tensor<1x4xf32>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d selection_bias %b : tensor<1x4xf32> experts 4 top_k 2 hidden 32 groups 2 kept 1 best 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// more_than_32_groups
// CHECK: op 0 tgraph.moe: expected at most 32 groups of experts, got 33
func.func @more_than_32_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 33x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 1056x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 1056x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 2112x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 33 top_k 2 hidden 32 groups 33 kept 2 best 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 33x64, transposed>, !tgraph.rows<bf16, 1056x64, transposed>, !tgraph.rows<bf16, 1056x64, transposed>, !tgraph.rows<bf16, 2112x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// weighed_inputs
// CHECK: op 0 tgraph.moe: expected softmax scores that choose experts and weigh their outputs, got weighed inputs
func.func @weighed_inputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 weigh_inputs : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// computed_router
// CHECK: op 0 tgraph.moe: expected a router of constant rows that are its outputs, or of values, got tensor<64x4xf32> computed in the step
func.func @computed_router(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %r: tensor<64x4xf32>) {
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, tensor<64x4xf32>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// router_rows_that_are_inputs
// CHECK: op 0 tgraph.moe: expected a router of constant rows that are its outputs, or of values, got !tgraph.rows<bf16, 64x4>
func.func @router_rows_that_are_inputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 64x4>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 64x4>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// experts_of_values
// CHECK: op 0 tgraph.moe: expected experts of constant rows that are their outputs, got tensor<64x128xf32>
func.func @experts_of_values(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : tensor<64x128xf32>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, tensor<64x128xf32>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// computed_experts
// CHECK: op 0 tgraph.moe: expected experts of constant rows that are their outputs, got !tgraph.rows<bf16, 256x32, transposed> computed in the step
func.func @computed_experts(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %d: !tgraph.rows<bf16, 256x32, transposed>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// computed_bias
// CHECK: op 0 tgraph.moe: expected constant biases, got a down_bias computed in the step
func.func @computed_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %b: tensor<4x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d down_bias %b : tensor<4x64xf32> experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// many_experts_kept
// CHECK: op 0 tgraph.moe: expected at most 32 kept of at most 8192 experts, got 33 of 64
func.func @many_experts_kept(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 64x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 2048x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 2048x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 4096x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 64 top_k 33 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>, !tgraph.rows<bf16, 2048x64, transposed>, !tgraph.rows<bf16, 2048x64, transposed>, !tgraph.rows<bf16, 4096x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// many_experts
// CHECK: op 0 tgraph.moe: expected at most 32 kept of at most 8192 experts, got 2 of 8193
func.func @many_experts(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 8193x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 262176x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 262176x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 524352x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8193 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 8193x64, transposed>, !tgraph.rows<bf16, 262176x64, transposed>, !tgraph.rows<bf16, 262176x64, transposed>, !tgraph.rows<bf16, 524352x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// heads_by_values
// CHECK: op 0 tgraph.head_matmul: expected a matrix a head of constant checkpoint rows, got tensor<64x64xf32>
func.func @heads_by_values(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<64x64xf32>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 64 : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x128xf32>
  func.return
}

// -----

// heads_by_computed_rows
// CHECK: op 0 tgraph.head_matmul: expected a matrix a head of constant checkpoint rows, got !tgraph.rows<bf16, 128x32, transposed> computed in the step
func.func @heads_by_computed_rows(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 128x32, transposed>) {
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 64 : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x32, transposed>) -> tensor<1x128xf32>
  func.return
}

// -----

// heads_of_parts_of_blocks
// CHECK: op 0 tgraph.head_matmul: expected heads of whole blocks of 32 values, got 48 to 64
func.func @heads_of_parts_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x96xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x48, transposed>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 48 outputs 64 : (tensor<1x96xf32>, !tgraph.rows<bf16, 128x48, transposed>) -> tensor<1x128xf32>
  func.return
}

// -----

// heads_to_parts_of_blocks
// CHECK: op 0 tgraph.head_matmul: expected heads of whole blocks of 32 values, got 32 to 40
func.func @heads_to_parts_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 80x32, transposed>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 40 : (tensor<1x64xf32>, !tgraph.rows<bf16, 80x32, transposed>) -> tensor<1x80xf32>
  func.return
}

// -----

// softcapped_tensor
// CHECK: op 0 tgraph.softcap: expected a tensor without a soft cap, got softcap
func.func @softcapped_tensor(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.softcap %x at 30.0 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// transpose
// CHECK: op 0 tgraph.transpose: expected rows as they lie, got transpose
func.func @transpose(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.transpose %x : tensor<1x64xf32> -> tensor<64x1xf32>
  func.return
}

// -----

// full_attention
// CHECK: op 0 tgraph.full_attention: expected an attention over tables, got full_attention
func.func @full_attention(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) {
  %y = tgraph.full_attention %x, %k, %v heads 2 kv_heads 2 head_dim 32 : (tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// lut_attention
// CHECK: op 0 tgraph.lut_attention: expected an attention over tables, got lut_attention
func.func @lut_attention(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %t: tensor<16xf32>) {
  %y = tgraph.lut_attention %x, %k, %v, %t heads 2 kv_heads 2 head_dim 32 step 0.5 : (tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<16xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// int_requant
// CHECK: op 0 tgraph.int_requant: expected f32 arithmetic, got int_requant
func.func @int_requant(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %i: tensor<1x64xi32>) {
  %y = tgraph.int_requant %i multiplier 1 shift 0 zero_point 0 : tensor<1x64xi32> -> tensor<1x64xi32>
  func.return
}

// -----

// int_clamp
// CHECK: op 0 tgraph.int_clamp: expected f32 arithmetic, got int_clamp
func.func @int_clamp(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %i: tensor<1x64xi32>) {
  %y = tgraph.int_clamp %i low -128 high 127 : tensor<1x64xi32> -> tensor<1x64xi32>
  func.return
}

// -----

// relu
// CHECK: op 0 tgraph.relu: expected silu, sigmoid or gelu, got relu
func.func @relu(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.relu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}
