// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// One mixture over the rows; its rows quantized first where each was.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: launch.lifted = 6 : i64
// CHECK: %t1 = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.moe(x = %x : memref<2x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %t1 : memref<2x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: func.return %t1 : memref<2x64xf32>
// CHECK-NEXT: }
func.func @rows(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t0 = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %t1 = tgraph.set_row %t0, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %t1 : tensor<2x64xf32>
}
