// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// One row of f32 by plain rows; a router of values.
// CHECK: driver.module @moe_f32_r1 compute_90
// CHECK: driver.launch @moe_f32_r1::@moe_f32_r1(%x, 64 : i32, %x, 64 : i32, 64 : i32, 1 : i32, 4 : i32, 2 : i32, 1 : i32, 1 : i32, 1 : i32, 1 : i32, 1.000000e+00 : f32, 32 : i32, 1 : i32, 0.000000e+00 : f32, %r, 9 : i32, {{.*}} grid (4, 1, 1) block (512, 1, 1) shared {{[0-9]+}} together covers [0] {label = "moe"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : memref<64x4xf32>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  launch.moe(x = %x : memref<1x64xf32>, router = %r : memref<64x4xf32>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %u : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [0]
  func.return
}

// -----

// Quantized rows, several of them; clamped, with biases; a shared expert with its gate; rows of a table named on the device.
// CHECK: driver.module @moe_q8_r4 compute_90
// CHECK: driver.launch @moe_q8_r4::@moe_q8_r4(%q, 2 : i32, %x, 64 : i32, 64 : i32, 3 : i32, 4 : i32, 2 : i32, 0 : i32, 1 : i32, 1 : i32, 1 : i32, 1.000000e+00 : f32, 32 : i32, 9 : i32, 7.000000e+00 : f32, %r, 0 : i32, 256 : i32, 16 : i32, 4 : i32, %c, 3 : i32, 64 : i32, 4 : i32, 1 : i32, {{.*}}%rb, %gb, %ub, %db, 64 : i32, {{.*}} %t, 64 : i32, %position, null, 0 : i32, {{.*}} together covers [1] {label = "moe"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<3x64xf32> {tgraph.state = "x"},
  %t: memref<8x64xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q4_0, 256x32, transposed>
  %sg = launch.constant #tgraph.checkpoint<"sg"> : !tgraph.rows<mxfp4, 64x64, transposed>
  %c = launch.constant #tgraph.checkpoint<"c"> : !tgraph.rows<q8_0, 1x64, transposed>
  %rb = launch.constant #tgraph.checkpoint<"rb"> : memref<1x4xf32>
  %gb = launch.constant #tgraph.checkpoint<"gb"> : memref<4x32xf32>
  %ub = launch.constant #tgraph.checkpoint<"ub"> : memref<4x32xf32>
  %db = launch.constant #tgraph.checkpoint<"db"> : memref<4x64xf32>
  %q = launch.alloc : !tgraph.q8<3x64, two_plane>
  launch.quant(x = %x : memref<3x64xf32>, quant = %q : !tgraph.q8<3x64, two_plane>) covers [0]
  launch.moe(x = %q : !tgraph.q8<3x64, two_plane>, router_x = %x : memref<3x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<q8_0, 128x64, transposed>, up = %g : !tgraph.rows<q8_0, 128x64, transposed>, down = %d : !tgraph.rows<q4_0, 256x32, transposed>, router_bias = %rb : memref<1x4xf32>, gate_bias = %gb : memref<4x32xf32>, up_bias = %ub : memref<4x32xf32>, down_bias = %db : memref<4x64xf32>, shared_gate_rows = %sg : !tgraph.rows<mxfp4, 64x64, transposed>, shared_up_rows = %sg : !tgraph.rows<mxfp4, 64x64, transposed>, shared_down_rows = %sg : !tgraph.rows<mxfp4, 64x64, transposed>, shared_gate = %c : !tgraph.rows<q8_0, 1x64, transposed>, out = %t : memref<8x64xf32>, at = %position : memref<1xi32>) {act = #tgraph<expert_activation clamped_swiglu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, limit = 7.000000e+00 : f32} covers [1]
  func.return
}

// -----

// Experts in groups ranked by their best, and a scale of the routed sum.
// CHECK: driver.launch @moe_decode_bf16::@moe_decode_bf16_f32(%x, 64 : i32, %x, 64 : i32, 64 : i32, 1 : i32, 4 : i32, 2 : i32, 0 : i32, 4 : i32, 3 : i32, 1 : i32, 1.600000e+01 : f32, 32 : i32, {{.*}} together covers [0] {label = "moe"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, routed_scale = 16.0 : f32, groups = 4 : i64, kept_groups = 3 : i64, group_best = 1 : i64} covers [0]
  func.return
}

// -----

// A unit of a wider row: 4 * 32 bytes into rows of 96 values.
// CHECK: driver.launch @moe_decode_bf16::@moe_decode_bf16_f32({{.*}} %y + 128, 96 : i32, null, null, 0 : i32, {{.*}} together covers [0] {label = "moe"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x96xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x96xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, unit_pitch = 96 : i64, unit_offset = 32 : i64} covers [0]
  func.return
}

// -----

// The mixture, rows added to it, and the norm of the sum, quantized; nothing else reads the mixture.
// CHECK: driver.launch @moe_decode_bf16::@moe_decode_bf16_f32({{.*}} %{{[0-9]+}}, 64 : i32, null, %z, 64 : i32, {{.*}} 1 : i32, 1.000000e-06 : f32, %n, %x, 64 : i32, null, 0 : i32, {{.*}} %q, 1 : i32) {{.*}} together covers [0, 1, 2, 3, 4] {label = "fold(moe, binary, norm)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %z: memref<1x64xf32> {tgraph.state = "z"}) attributes {launch.lifted = 5 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %m = launch.alloc : memref<1x64xf32>
  %s = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  launch.fold() {
    launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation gelu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
    launch.binary(a = %z : memref<1x64xf32>, b = %m : memref<1x64xf32>, out = %s : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [1]
    launch.norm(x = %s : memref<1x64xf32>, add = %x : memref<1x64xf32>, w = %n : memref<64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [2, 3, 4]
  }
  func.return
}

// -----

// The mixture's row is normed in its launch, in the form that experts read and in the router's.
// CHECK: driver.launch @moe_decode_q8_0::@moe_decode_q8_0_q8(%x, 1 : i32, null, 0 : i32, 64 : i32, 1 : i32, {{.*}} %y, 64 : i32, null, %z, 64 : i32, %{{[0-9]+}}, 1 : i32, %n, 1.000000e-06 : f32, {{.*}} together covers [0, 1, 2, 3] {label = "fold(norm, moe, binary)"}
// Formats that have no module run in the general kernel, of values too.
// CHECK: driver.launch @moe_q8_r1::@moe_q8_r1(%y, 1 : i32, null, 0 : i32, 64 : i32, {{.*}} 1 : i32, null, 1.000000e-06 : f32, {{.*}} together covers [4, 5, 6] {label = "fold(norm, moe)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x64xf32> {tgraph.state = "y"},
  %z: memref<1x64xf32> {tgraph.state = "z"}) attributes {launch.lifted = 7 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : memref<64x4xf32>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 256x64, transposed>
  %u = launch.constant #tgraph.checkpoint<"u"> : !tgraph.rows<q4_0, 256x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  %m = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<64xf32>, out = %h : memref<1x64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0, 1]
    launch.moe(x = %q : !tgraph.q8<1x64>, router_x = %h : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<q8_0, 256x64, transposed>, up = %g : !tgraph.rows<q8_0, 256x64, transposed>, down = %d : !tgraph.rows<q8_0, 256x64, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [2]
    launch.binary(a = %m : memref<1x64xf32>, b = %z : memref<1x64xf32>, out = %y : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [3]
  }
  %i = launch.alloc : memref<1x64xf32>
  %j = launch.alloc : !tgraph.q8<1x64>
  launch.fold() {
    launch.norm(x = %y : memref<1x64xf32>, out = %i : memref<1x64xf32>, quant = %j : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [4, 5]
    launch.moe(x = %j : !tgraph.q8<1x64>, router_x = %i : memref<1x64xf32>, router = %v : memref<64x4xf32>, gate = %g : !tgraph.rows<q8_0, 256x64, transposed>, up = %u : !tgraph.rows<q4_0, 256x64, transposed>, down = %d : !tgraph.rows<q8_0, 256x64, transposed>, out = %z : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [6]
  }
  func.return
}
