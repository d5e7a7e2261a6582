// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A rotation with the norm of its heads.

// CHECK-LABEL: func.func @qk_norm_rope(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.rope(x = %x : memref<2x32xf32>, norm = %h : memref<16xf32>, cos = %c : memref<8x8xf32>, sin = %c : memref<8x8xf32>, position = %p : memref<1xi32>, out = %n : memref<2x32xf32>) {heads = 2 : i64, head_dim = 16 : i64, half = 8 : i64, norm_eps = 1.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @qk_norm_rope(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<2x32xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125], scale 1.0> : tensor<8x8xf32>
  %h = tgraph.constant #tgraph.checkpoint<"h"> : tensor<16xf32>
  %r = tgraph.fused qk_norm_rope(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %c_1 = %c : tensor<8x8xf32>, %h_1 = %h : tensor<16xf32>) -> (tensor<2x32xf32>) {
    %a = tgraph.fused_row rms %x_1 weight %h_1 : tensor<16xf32> cols 16 eps 1.0 : tensor<2x32xf32>
    %n = tgraph.rope %a, %c_1, %c_1 at %p_1 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
