// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A gated pair, whichever product is the gate.

// CHECK-LABEL: func.func @gemv_gate_up_glu(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gemv_glu(x = %x : memref<2x32xf32>, wg = %v : !tgraph.rows<bf16, 32x32, transposed>, wu = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %n : memref<2x32xf32>) {act = #launch<act silu>} covers [0, 1, 2]
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @gemv_gate_up_glu(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %v = tgraph.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemv_gate_up_glu(%x_1 = %x : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>, %v_1 = %v : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %b = tgraph.matmul %x_1, %v_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %n = tgraph.swiglu %b, %a : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
