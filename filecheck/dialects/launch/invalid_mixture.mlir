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

// -----

// CHECK: sym_name = "groups_without_how_they_rank"
// CHECK: | Operation does not verify: launch.moe: expected groups, kept_groups and group_best, or none of them
func.func @groups_without_how_they_rank(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 2 : i64, kept_groups = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "kept_groups_alone"
// CHECK: | Operation does not verify: launch.moe: expected groups, kept_groups and group_best, or none of them
func.func @kept_groups_alone(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, kept_groups = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "groups_that_do_not_divide_the_experts"
// CHECK: | Operation does not verify: launch.moe groups: expected 1 to 32 that divide 4 experts by 1 or more each, got 3
func.func @groups_that_do_not_divide_the_experts(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 3 : i64, kept_groups = 2 : i64, group_best = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "groups_of_fewer_than_rank_them"
// CHECK: | Operation does not verify: launch.moe groups: expected 1 to 32 that divide 4 experts by 3 or more each, got 2
func.func @groups_of_fewer_than_rank_them(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 2 : i64, kept_groups = 1 : i64, group_best = 3 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "no_groups"
// CHECK: | Operation does not verify: launch.moe groups: expected 1 to 32 that divide 4 experts by 1 or more each, got 0
func.func @no_groups(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 0 : i64, kept_groups = 0 : i64, group_best = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "groups_ranked_by_nothing"
// CHECK: | Operation does not verify: launch.moe groups: expected 1 to 32 that divide 4 experts by 0 or more each, got 2
func.func @groups_ranked_by_nothing(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 2 : i64, kept_groups = 1 : i64, group_best = 0 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "kept_groups_without_room"
// CHECK: | Operation does not verify: launch.moe kept_groups: expected 1 to 4 with room for 2 experts, got 1
func.func @kept_groups_without_room(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 4 : i64, kept_groups = 1 : i64, group_best = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "more_kept_groups_than_there_are"
// CHECK: | Operation does not verify: launch.moe kept_groups: expected 1 to 2 with room for 2 experts, got 3
func.func @more_kept_groups_than_there_are(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 2 : i64, kept_groups = 3 : i64, group_best = 1 : i64} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "scale_of_nothing"
// CHECK: | Operation does not verify: launch.moe routed_scale: expected a finite number of more than 0, got 0.0
func.func @scale_of_nothing(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, routed_scale = 0.0 : f32} covers [7]
  func.return
}

// -----

// CHECK: sym_name = "more_groups_than_lanes"
// CHECK: | Operation does not verify: launch.moe groups: expected 1 to 32 that divide 33 experts by 1 or more each, got 33
func.func @more_groups_than_lanes(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 33x128, transposed>, %g: !tgraph.rows<bf16, 2112x128, transposed>, %d: !tgraph.rows<bf16, 4224x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 33x128, transposed>, gate = %g : !tgraph.rows<bf16, 2112x128, transposed>, up = %g : !tgraph.rows<bf16, 2112x128, transposed>, down = %d : !tgraph.rows<bf16, 4224x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 33 : i64, top_k = 2 : i64, hidden = 64 : i64, groups = 33 : i64, kept_groups = 2 : i64, group_best = 1 : i64} covers [7]
  func.return
}
