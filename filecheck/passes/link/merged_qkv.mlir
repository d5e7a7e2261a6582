// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// One launch over parts; where any are turned, a fold with one launch over their sides.

// CHECK-LABEL: func.func @merged_qkv_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gemm_parts(x = %x : memref<2x32xf32>) {
// CHECK-NEXT: launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.gemm_part(w = %v : !tgraph.rows<bf16, 32x32, transposed>, out = %b : memref<2x32xf32>) covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b : memref<2x32xf32>, memref<2x32xf32>
func.func @merged_qkv_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %v = tgraph.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x32, transposed>
  %r, %r1 = tgraph.fused merged_qkv(%x_1 = %x : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>, %v_1 = %v : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %b = tgraph.matmul %x_1, %v_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    tgraph.yield %a, %b : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @merged_qkv_1(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %e = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gemm_parts(x = %x : memref<2x32xf32>) {
// CHECK-NEXT: launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %e : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.gemm_part(w = %v : !tgraph.rows<bf16, 32x32, transposed>, out = %b : memref<2x32xf32>) covers [2]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(cos = %c : memref<8x8xf32>, sin = %c : memref<8x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 16 : i64, half = 8 : i64} {
// CHECK-NEXT: launch.rope_side(x = %e : memref<2x32xf32>, out = %n : memref<2x32xf32>) {heads = 2 : i64} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %n, %b : memref<2x32xf32>, memref<2x32xf32>
func.func @merged_qkv_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5, 0.25, 0.125, 1.0, 0.5, 0.25, 0.125], scale 1.0> : tensor<8x8xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %v = tgraph.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x32, transposed>
  %r, %r1 = tgraph.fused merged_qkv(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %c_1 = %c : tensor<8x8xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>, %v_1 = %v : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.fused qkv_head_epilogue(%x_2 = %x_1 : tensor<2x32xf32>, %p_2 = %p_1 : tensor<1xi32>, %c_2 = %c_1 : tensor<8x8xf32>, %w_2 = %w_1 : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
      %e = tgraph.matmul %x_2, %w_2 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
      %n = tgraph.rope %e, %c_2, %c_2 at %p_2 heads 2 head_dim 16 half 8 : (tensor<2x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<2x32xf32>
      tgraph.yield %n : tensor<2x32xf32>
    }
    %b = tgraph.matmul %x_1, %v_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    tgraph.yield %a, %b : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @merged_qkv_2(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gemm_parts(x = %x : memref<2x32xf32>) {
// CHECK-NEXT: launch.gemm_part(w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0, 1]
// CHECK-NEXT: launch.gemm_part(w = %v : !tgraph.rows<bf16, 32x32, transposed>, out = %b : memref<2x32xf32>) covers [2]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @merged_qkv_2(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}, %t: tensor<8x32xf32> {tgraph.state = "t"}) -> (tensor<8x32xf32> {tgraph.carry = 3}, tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %v = tgraph.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x32, transposed>
  %r, %r1 = tgraph.fused merged_qkv(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %t_1 = %t : tensor<8x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>, %v_1 = %v : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<8x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.fused row_in_place(%x_2 = %x_1 : tensor<2x32xf32>, %p_2 = %p_1 : tensor<1xi32>, %t_2 = %t_1 : tensor<8x32xf32>, %w_2 = %w_1 : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<8x32xf32>) {
      %e = tgraph.matmul %x_2, %w_2 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
      %n = tgraph.set_row %t_2, %e at %p_2 : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
      tgraph.yield %n : tensor<8x32xf32>
    }
    %b = tgraph.matmul %x_1, %v_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    tgraph.yield %a, %b : tensor<8x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<8x32xf32>, tensor<2x32xf32>
}
