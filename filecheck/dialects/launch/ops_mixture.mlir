// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

// A mixture of experts.

// CHECK-LABEL: func.func @moe(
// CHECK-NEXT: launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
// CHECK-NEXT: func.return
func.func @moe(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>,
  gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>,
  down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>)
  {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
  func.return
}

// CHECK-LABEL: func.func @with_a_shared_expert(
// CHECK-NEXT: launch.moe(x = %x : !tgraph.q8<1x64>, router_x = %f : memref<1x64xf32>, router = %r : memref<64x4xf32>, gate = %g : !tgraph.rows<q8_0, 128x64, transposed>, up = %g : !tgraph.rows<q8_0, 128x64, transposed>, down = %d : !tgraph.rows<q8_0, 256x32, transposed>, router_bias = %rb : memref<1x4xf32>, gate_bias = %gb : memref<4x32xf32>, up_bias = %gb : memref<4x32xf32>, down_bias = %db : memref<4x64xf32>, shared_gate_rows = %s : !tgraph.rows<q8_0, 96x64, transposed>, shared_up_rows = %s : !tgraph.rows<q8_0, 96x64, transposed>, shared_down_rows = %sd : !tgraph.rows<q8_0, 64x96, transposed>, shared_gate = %sg : memref<64x1xf32>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation clamped_swiglu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize, limit = 7.000000e+00 : f32} covers [0]
// CHECK-NEXT: func.return
func.func @with_a_shared_expert(%x: !tgraph.q8<1x64>, %f: memref<1x64xf32>, %r: memref<64x4xf32>, %g: !tgraph.rows<q8_0, 128x64, transposed>, %d: !tgraph.rows<q8_0, 256x32, transposed>, %rb: memref<1x4xf32>, %gb: memref<4x32xf32>, %db: memref<4x64xf32>, %s: !tgraph.rows<q8_0, 96x64, transposed>, %sd: !tgraph.rows<q8_0, 64x96, transposed>, %sg: memref<64x1xf32>, %y: memref<1x64xf32>) {
  launch.moe(x = %x : !tgraph.q8<1x64>, router_x = %f : memref<1x64xf32>, router = %r : memref<64x4xf32>, gate = %g : !tgraph.rows<q8_0, 128x64, transposed>, up = %g : !tgraph.rows<q8_0, 128x64, transposed>, down = %d : !tgraph.rows<q8_0, 256x32, transposed>, router_bias = %rb : memref<1x4xf32>, gate_bias = %gb : memref<4x32xf32>, up_bias = %gb : memref<4x32xf32>, down_bias = %db : memref<4x64xf32>, shared_gate_rows = %s : !tgraph.rows<q8_0, 96x64, transposed>, shared_up_rows = %s : !tgraph.rows<q8_0, 96x64, transposed>, shared_down_rows = %sd : !tgraph.rows<q8_0, 64x96, transposed>, shared_gate = %sg : memref<64x1xf32>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation clamped_swiglu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize, limit = 7.000000e+00 : f32} covers [0]
  func.return
}

// CHECK-LABEL: func.func @of_groups(
// CHECK-NEXT: launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, routed_scale = 1.600000e+01 : f32, groups = 2 : i64, kept_groups = 1 : i64, group_best = 1 : i64} covers [7]
// CHECK-NEXT: func.return
func.func @of_groups(%x: memref<1x128xf32>, %r: !tgraph.rows<bf16, 4x128, transposed>, %g: !tgraph.rows<bf16, 256x128, transposed>, %u: !tgraph.rows<bf16, 256x128, transposed>, %d: !tgraph.rows<bf16, 512x64, transposed>, %y: memref<1x128xf32>) {
  launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>, gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>, down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64, routed_scale = 1.600000e+01 : f32, groups = 2 : i64, kept_groups = 1 : i64, group_best = 1 : i64} covers [7]
  func.return
}
