// RUN: lanelink-opt %s --split-input-file --verify-diagnostics -p plan-buffers,lower-to-driver | filecheck %s

// computed_router
// CHECK: lower-to-driver moe: launch.moe matrix: expected a constant, got memref<64x4xf32>
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %r: memref<64x4xf32> {tgraph.state = "r"},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = launch.alloc : memref<1x64xf32>
  launch.moe(x = %x : memref<1x64xf32>, router = %r : memref<64x4xf32>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
  func.return
}

// -----

// too_wide
// CHECK: lower-to-driver moe: mixture width: expected a row in 231424 bytes of shared memory, got 262400
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x65536xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x65536, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x65536, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 262144x32, transposed>
  %y = launch.alloc : memref<1x65536xf32>
  launch.moe(x = %x : memref<1x65536xf32>, router = %r : !tgraph.rows<f32, 4x65536, transposed>, gate = %g : !tgraph.rows<bf16, 128x65536, transposed>, up = %g : !tgraph.rows<bf16, 128x65536, transposed>, down = %d : !tgraph.rows<bf16, 262144x32, transposed>, out = %y : memref<1x65536xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
  func.return
}

// -----

// two_other_forms_of_x
// CHECK: lower-to-driver moe: mixture router_x beside f32 x: expected a router of plain rows or values, got one of blocks
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %z: memref<1x64xf32> {tgraph.state = "z"},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 1 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<q8_0, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = launch.alloc : memref<1x64xf32>
  launch.moe(x = %x : memref<1x64xf32>, router_x = %z : memref<1x64xf32>, router = %r : !tgraph.rows<q8_0, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %y : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
  func.return
}

// -----

// fold_in_a_table
// CHECK: lower-to-driver fold(moe, norm): launch.fold mixture: expected f32 rows in a buffer of their own, got another destination
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %t: memref<8x64xf32> {tgraph.state = "t"},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %y = launch.alloc : memref<8x64xf32>
  launch.fold() {
    launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %t : memref<8x64xf32>, at = %position : memref<1xi32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
    launch.norm(x = %t : memref<8x64xf32>, out = %y : memref<8x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// fold_of_a_product
// CHECK: lower-to-driver fold(moe, binary): launch.fold binary: expected a plain sum of the mixture and other rows, got another function
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %z: memref<1x64xf32> {tgraph.state = "z"},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<f32, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %m = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<f32, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
    launch.binary(a = %m : memref<1x64xf32>, b = %z : memref<1x64xf32>, out = %y : memref<1x64xf32>) {kind = #tgraph<binary_kind mul>} covers [1]
  }
  func.return
}
