// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A fold: the product, and the rotation of its heads.

// CHECK-LABEL: func.func @qkv_head_epilogue(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.rope(x = %a : memref<2x32xf32>, cos = %c : memref<8x8xf32>, sin = %c : memref<8x8xf32>, position = %p : memref<1xi32>, out = %n : memref<2x32xf32>) {heads = 2 : i64, head_dim = 16 : i64, half = 8 : i64} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @qkv_head_epilogue(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<2x32xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125], scale 1.0> : tensor<8x8xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused qkv_head_epilogue(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %c_1 = %c : tensor<8x8xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %n = tgraph.rope %a, %c_1, %c_1 at %p_1 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
