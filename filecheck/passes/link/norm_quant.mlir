// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A norm that writes its rows quantized, beside f32 where that is read.

// CHECK-LABEL: func.func @norm_quant(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.norm(x = %x : memref<2x32xf32>, out = %n : memref<2x32xf32>, quant = %q : !tgraph.q8<2x32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %n, %q : memref<2x32xf32>, !tgraph.q8<2x32>
func.func @norm_quant(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>, !tgraph.q8<2x32>) {
  %r, %r1 = tgraph.fused norm_quant(%x_1 = %x : tensor<2x32xf32>) -> (tensor<2x32xf32>, !tgraph.q8<2x32>) {
    %n = tgraph.fused_row rms %x_1 cols 32 eps 1.0 : tensor<2x32xf32>
    %q = tgraph.quantize %n : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %n, %q : tensor<2x32xf32>, !tgraph.q8<2x32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, !tgraph.q8<2x32>
}
