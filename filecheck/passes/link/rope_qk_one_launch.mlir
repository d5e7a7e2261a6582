// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// One launch over several sides.

// CHECK-LABEL: func.func @rope_qk_one_launch(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.rope_parts(cos = %c : memref<8x8xf32>, sin = %c : memref<8x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 16 : i64, half = 8 : i64} {
// CHECK-NEXT: launch.rope_side(x = %x : memref<2x32xf32>, out = %a : memref<2x32xf32>) {heads = 2 : i64} covers [0]
// CHECK-NEXT: launch.rope_side(x = %y : memref<2x32xf32>, out = %b : memref<2x32xf32>) {heads = 2 : i64} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b : memref<2x32xf32>, memref<2x32xf32>
func.func @rope_qk_one_launch(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125], scale 1.0> : tensor<8x8xf32>
  %r, %r1 = tgraph.fused rope_qk_one_launch(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %c_1 = %c : tensor<8x8xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.rope %x_1, %c_1, %c_1 at %p_1 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
    %b = tgraph.rope %y_1, %c_1, %c_1 at %p_1 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
    tgraph.yield %a, %b : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}
