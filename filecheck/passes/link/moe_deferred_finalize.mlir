// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// A fold: the mixture, a sum, and the norm over it.

// CHECK-LABEL: func.func @norm(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %m = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %s = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %o = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [0]
// CHECK-NEXT: launch.norm(x = %m : memref<1x64xf32>, add = %y : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %n : memref<64xf32>, out = %o : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e+00 : f32} covers [1, 2]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %o, %s : memref<1x64xf32>, memref<1x64xf32>
// CHECK-NEXT: }
func.func @norm(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %m = tgraph.moe softmax silu %x, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %y, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %o = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return %o, %s : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @sum_between(
// CHECK-SAME: launch.lifted = 4 : i64
// CHECK: %m = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %s = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: %o = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [0]
// CHECK-NEXT: launch.binary(a = %y : memref<1x64xf32>, b = %m : memref<1x64xf32>, out = %s : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [1]
// CHECK-NEXT: launch.norm(x = %s : memref<1x64xf32>, add = %z : memref<1x64xf32>, w = %n : memref<64xf32>, out = %o : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e+00 : f32} covers [2, 3]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %o : memref<1x64xf32>
// CHECK-NEXT: }
func.func @sum_between(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>, %z: tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %m = tgraph.moe softmax silu %x, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %s = tgraph.elementwise add %y, %m : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %s1 = tgraph.elementwise add %z, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %o = tgraph.fused_row rms %s1 weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}
