// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A norm with its residual sum, quantized.

// CHECK-LABEL: func.func @add_norm_quant(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.norm(x = %x : memref<2x32xf32>, add = %y : memref<2x32xf32>, quant = %q : !tgraph.q8<2x32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [0, 1, 2]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @add_norm_quant(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
  %r = tgraph.fused add_norm_quant(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
    %n = tgraph.fused add_norm(%x_2 = %x_1 : tensor<2x32xf32>, %y_2 = %y_1 : tensor<2x32xf32>) -> (tensor<2x32xf32>) {
      %s = tgraph.elementwise add %x_2, %y_2 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
      %m1 = tgraph.fused_row rms %s cols 32 eps 1.0 : tensor<2x32xf32>
      tgraph.yield %m1 : tensor<2x32xf32>
    }
    %q = tgraph.quantize %n : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r : !tgraph.q8<2x32>
}
