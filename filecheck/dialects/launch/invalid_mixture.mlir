// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "more_kept_than_experts"
// CHECK: | Operation does not verify: launch.moe: expected 1 to 32 of at most 8192 experts of at least 1 value, got 5 of 4 of 64
func.func @more_kept_than_experts(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 5 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "experts_of_another_width"
// CHECK: | Operation does not verify: launch.moe gate: outputs: expected 128, got 256
func.func @experts_of_another_width(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "limit_of_no_clamp"
// CHECK: | Operation does not verify: launch.moe limit: expected one with clamped_swiglu alone, got 7.0 with silu
func.func @limit_of_no_clamp(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, limit = 7.0 : f32} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "clamp_of_no_limit"
// CHECK: | Operation does not verify: launch.moe limit: expected one with clamped_swiglu alone, got none with clamped_swiglu
func.func @clamp_of_no_limit(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation clamped_swiglu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "limit_past_every_number"
// CHECK: | Operation does not verify: launch.moe limit: expected a finite number of more than 0, got inf
func.func @limit_past_every_number(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation clamped_swiglu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, limit = 0x7f800000 : f32} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "half_a_shared_expert"
// CHECK: | Operation does not verify: launch.moe: expected all three matrices of a shared expert, or none
func.func @half_a_shared_expert(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %s: !tgraph.rows<bf16, 32x128, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, shared_up_rows = %s : !tgraph.rows<bf16, 32x128, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "gate_of_no_shared_expert"
// CHECK: | Operation does not verify: launch.moe shared_gate: expected a shared expert beside it, got none
func.func @gate_of_no_shared_expert(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %s: !tgraph.rows<bf16, 1x128, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, shared_gate = %s : !tgraph.rows<bf16, 1x128, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "router_of_other_experts"
// CHECK: | Operation does not verify: launch.moe router: outputs: expected 4, got 8
func.func @router_of_other_experts(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 8x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 8x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "router_without_f32_rows"
// CHECK: | Operation does not verify: launch.moe router_x: expected f32 rows for a router of !tgraph.rows<bf16, 4x128, transposed>, got none
func.func @router_without_f32_rows(%x: !tgraph.q8<1x128>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<q8_0, 256x128, transposed>, %u: !tgraph.rows<q8_0, 256x128, transposed>, %d: !tgraph.rows<q8_0, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : !tgraph.q8<1x128>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<q8_0, 256x128, transposed>, up = %u : !tgraph.rows<q8_0, 256x128, transposed>, down = %d : !tgraph.rows<q8_0, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "plain_experts_of_quantized_rows"
// CHECK: | Operation does not verify: launch.moe gate: expected rows of a block format beside a quantized x, got !tgraph.rows<bf16, 256x128, transposed>
func.func @plain_experts_of_quantized_rows(%x: !tgraph.q8<1x128>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : !tgraph.q8<1x128>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "bias_of_another_shape"
// CHECK: | Operation does not verify: launch.moe down_bias: expected (4, 128), got (4, 64)
func.func @bias_of_another_shape(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %b: memref<4x64xf32>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, down_bias = %b : memref<4x64xf32>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}
