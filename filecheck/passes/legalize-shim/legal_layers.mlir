// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file | filecheck %s

// The legal neighbour of each row of refused_layers.mlir: left as it is.

// CHECK-LABEL: func.func @chunked_window(
// CHECK: tgraph.attention{{.*}}
// CHECK-NEXT: func.return
func.func @chunked_window(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) {
  %y = tgraph.attention %x, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 window 4 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @delta_gated_by_a_sigmoid(
// CHECK: tgraph.gated_delta{{.*}}
// CHECK-NEXT: func.return
func.func @delta_gated_by_a_sigmoid(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>, %b: tensor<1x2xf32>, %s: tensor<64x32xf32>, %n: tensor<32xf32>) {
  %y, %z = tgraph.gated_delta silu %a, %a, %a, %a, %b, %b, %s, %n value_heads 2 key_heads 2 head_dim 32 eps 1.0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @delta_head_of_part_of_a_warp(
// CHECK: tgraph.gated_delta{{.*}}
// CHECK-NEXT: func.return
func.func @delta_head_of_part_of_a_warp(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x128xf32>, %b: tensor<1x2xf32>, %s: tensor<128x64xf32>, %n: tensor<64xf32>) {
  %y, %z = tgraph.gated_delta silu %a, %a, %a, %a, %b, %b, %s, %n value_heads 2 key_heads 2 head_dim 64 eps 1.0 : (tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<128x64xf32>, tensor<64xf32>) -> (tensor<1x128xf32>, tensor<128x64xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @wide_delta_head(
// CHECK: tgraph.gated_delta{{.*}}
// CHECK-NEXT: func.return
func.func @wide_delta_head(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x1024xf32>, %b: tensor<1x1xf32>, %s: tensor<1024x1024xf32>, %n: tensor<1024xf32>) {
  %y, %z = tgraph.gated_delta silu %a, %a, %a, %a, %b, %b, %s, %n value_heads 1 key_heads 1 head_dim 1024 eps 1.0 : (tensor<1x1024xf32>, tensor<1x1024xf32>, tensor<1x1024xf32>, tensor<1x1024xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1024x1024xf32>, tensor<1024xf32>) -> (tensor<1x1024xf32>, tensor<1024x1024xf32>)
  func.return
}

// -----

// CHECK-LABEL: func.func @router_of_sigmoids(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @router_of_sigmoids(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @router_with_a_selection_bias(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @router_with_a_selection_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %b = tgraph.constant #tgraph.checkpoint<"b"> : tensor<1x4xf32>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_bias %b : tensor<1x4xf32> experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @sigmoid_scores_in_groups(
// CHECK: tgraph.moe{{.*}}routed_scale 2.500000e+00 groups 2 kept 1 number 0 :
// CHECK-NEXT: func.return
func.func @sigmoid_scores_in_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 renormalize routed_scale 2.5 groups 2 kept 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @selection_bias_in_groups(
// CHECK: tgraph.moe{{.*}}groups 2 kept 1 best 1 number 0 :
// CHECK-NEXT: func.return
func.func @selection_bias_in_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 groups 2 kept 1 best 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @more_than_32_groups(
// CHECK: tgraph.moe{{.*}}groups 32 kept 2 best 1 number 0 :
// CHECK-NEXT: func.return
func.func @more_than_32_groups(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 1024x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 1024x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 2048x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 32 top_k 2 hidden 32 groups 32 kept 2 best 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>, !tgraph.rows<bf16, 1024x64, transposed>, !tgraph.rows<bf16, 1024x64, transposed>, !tgraph.rows<bf16, 2048x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @routed_scale(
// CHECK: tgraph.moe{{.*}}routed_scale
// CHECK-NEXT: func.return
func.func @routed_scale(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 routed_scale 2.5 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @weighed_inputs(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @weighed_inputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @computed_router(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @computed_router(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : tensor<64x4xf32>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, tensor<64x4xf32>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @router_rows_that_are_inputs(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @router_rows_that_are_inputs(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @experts_of_values(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @experts_of_values(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @computed_experts(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @computed_experts(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @computed_bias(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @computed_bias(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %b = tgraph.constant #tgraph.checkpoint<"b"> : tensor<4x64xf32>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d down_bias %b : tensor<4x64xf32> experts 4 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @many_experts_kept(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @many_experts_kept(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 64x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 2048x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 2048x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 4096x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 64 top_k 32 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>, !tgraph.rows<bf16, 2048x64, transposed>, !tgraph.rows<bf16, 2048x64, transposed>, !tgraph.rows<bf16, 4096x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @many_experts(
// CHECK: tgraph.moe{{.*}}
// CHECK-NEXT: func.return
func.func @many_experts(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 8192x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 262144x64, transposed>
  %u = tgraph.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 262144x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 524288x32, transposed>
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8192 top_k 2 hidden 32 : tensor<1x64xf32>, !tgraph.rows<bf16, 8192x64, transposed>, !tgraph.rows<bf16, 262144x64, transposed>, !tgraph.rows<bf16, 262144x64, transposed>, !tgraph.rows<bf16, 524288x32, transposed> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @heads_by_values(
// CHECK: tgraph.head_matmul{{.*}}
// CHECK-NEXT: func.return
func.func @heads_by_values(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 64 : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @heads_by_computed_rows(
// CHECK: tgraph.head_matmul{{.*}}
// CHECK-NEXT: func.return
func.func @heads_by_computed_rows(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x32, transposed>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 64 : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x32, transposed>) -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @heads_of_parts_of_blocks(
// CHECK: tgraph.head_matmul{{.*}}
// CHECK-NEXT: func.return
func.func @heads_of_parts_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x128xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 64 outputs 64 : (tensor<1x128xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @heads_to_parts_of_blocks(
// CHECK: tgraph.head_matmul{{.*}}
// CHECK-NEXT: func.return
func.func @heads_to_parts_of_blocks(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %a: tensor<1x64xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x32, transposed>
  %y = tgraph.head_matmul %a, %w heads 2 inputs 32 outputs 32 : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32, transposed>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @softcapped_tensor(
// CHECK: tgraph.scale{{.*}}
// CHECK-NEXT: func.return
func.func @softcapped_tensor(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.scale %x by 30.0 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @transpose(
// CHECK: tgraph.view{{.*}}
// CHECK-NEXT: func.return
func.func @transpose(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.view %x offset 0 : tensor<1x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @full_attention(
// CHECK: tgraph.attention{{.*}}
// CHECK-NEXT: func.return
func.func @full_attention(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) {
  %y = tgraph.attention %x, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @lut_attention(
// CHECK: tgraph.attention{{.*}}
// CHECK-NEXT: func.return
func.func @lut_attention(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) {
  %y = tgraph.attention %x, %k, %v at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @int_requant(
// CHECK: tgraph.scale{{.*}}
// CHECK-NEXT: func.return
func.func @int_requant(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.scale %x by 0.5 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @int_clamp(
// CHECK: tgraph.scale{{.*}}
// CHECK-NEXT: func.return
func.func @int_clamp(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.scale %x by 0.5 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @relu(
// CHECK: tgraph.silu{{.*}}
// CHECK-NEXT: func.return
func.func @relu(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>, %p: tensor<1xi32>) {
  %y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}
