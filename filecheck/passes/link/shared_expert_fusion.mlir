// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The shared expert's matrices and its gate beside the mixture's.

// CHECK-LABEL: func.func @gated(
// CHECK-SAME: launch.lifted = 9 : i64
// CHECK: %o = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.moe(x = %x : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, shared_gate_rows = %w : !tgraph.rows<bf16, 96x64, transposed>, shared_up_rows = %w : !tgraph.rows<bf16, 96x64, transposed>, shared_down_rows = %wd : !tgraph.rows<bf16, 64x96, transposed>, shared_gate = %w1 : !tgraph.rows<bf16, 1x64, transposed>, out = %o : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [0, 1, 2, 3, 4, 5, 6, 7, 8]
// CHECK-NEXT: func.return %o : memref<1x64xf32>
// CHECK-NEXT: }
func.func @gated(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>) -> (tensor<1x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 96x64, transposed>
  %wd = tgraph.constant #tgraph.checkpoint<"wd"> : !tgraph.rows<bf16, 64x96, transposed>
  %w1 = tgraph.constant #tgraph.checkpoint<"w1"> : !tgraph.rows<bf16, 1x64, transposed>
  %m = tgraph.moe softmax silu %x, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %b = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 96x64, transposed>) -> tensor<1x96xf32>
  %h = tgraph.swiglu %a, %b : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %e = tgraph.matmul %h, %wd : (tensor<1x96xf32>, !tgraph.rows<bf16, 64x96, transposed>) -> tensor<1x64xf32>
  %c = tgraph.matmul %x, %w1 : (tensor<1x64xf32>, !tgraph.rows<bf16, 1x64, transposed>) -> tensor<1x1xf32>
  %cs = tgraph.sigmoid %c : tensor<1x1xf32> -> tensor<1x1xf32>
  %eg = tgraph.elementwise mul %e, %cs : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  %o = tgraph.elementwise add %m, %eg : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}
