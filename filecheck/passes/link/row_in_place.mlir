// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A launch whose rows land in a table.

// CHECK-LABEL: func.func @row_in_place_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: launch.gemv_f32(x = %x : memref<2x32xf32>, w = %m : memref<32x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0, 1]
// CHECK-NEXT: func.return
func.func @row_in_place_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}, %t: tensor<8x32xf32> {tgraph.state = "t"}) -> (tensor<8x32xf32> {tgraph.carry = 3}) {
  %m = tgraph.constant #tgraph.checkpoint<"m"> : tensor<32x32xf32>
  %r = tgraph.fused row_in_place(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %t_1 = %t : tensor<8x32xf32>, %m_1 = %m : tensor<32x32xf32>) -> (tensor<8x32xf32>) {
    %a = tgraph.matmul %x_1, %m_1 : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
    %n = tgraph.set_row %t_1, %a at %p_1 : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
    tgraph.yield %n : tensor<8x32xf32>
  }
  func.return %r : tensor<8x32xf32>
}

// -----

// CHECK-LABEL: func.func @row_in_place_1(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: launch.rope(x = %x : memref<2x32xf32>, cos = %c : memref<8x8xf32>, sin = %c : memref<8x8xf32>, position = %p : memref<1xi32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) {heads = 2 : i64, head_dim = 16 : i64, half = 8 : i64} covers [0, 1]
// CHECK-NEXT: func.return
func.func @row_in_place_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}, %t: tensor<8x32xf32> {tgraph.state = "t"}) -> (tensor<8x32xf32> {tgraph.carry = 3}) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125], scale 1.0> : tensor<8x8xf32>
  %r = tgraph.fused row_in_place(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %t_1 = %t : tensor<8x32xf32>, %c_1 = %c : tensor<8x8xf32>) -> (tensor<8x32xf32>) {
    %a = tgraph.rope %x_1, %c_1, %c_1 at %p_1 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
    %n = tgraph.set_row %t_1, %a at %p_1 : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
    tgraph.yield %n : tensor<8x32xf32>
  }
  func.return %r : tensor<8x32xf32>
}
