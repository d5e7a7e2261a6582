// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// An elementwise launch that writes its result quantized.

// CHECK-LABEL: func.func @elementwise_quant(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %s = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.binary(a = %x : memref<2x32xf32>, b = %y : memref<2x32xf32>, out = %s : memref<2x32xf32>, quant = %q : !tgraph.q8<2x32>) {kind = #tgraph<binary_kind sub>} covers [0, 1]
// CHECK-NEXT: func.return %s, %q : memref<2x32xf32>, !tgraph.q8<2x32>
func.func @elementwise_quant(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>, !tgraph.q8<2x32>) {
  %r, %r1 = tgraph.fused elementwise_quant(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (tensor<2x32xf32>, !tgraph.q8<2x32>) {
    %s = tgraph.elementwise sub %x_1, %y_1 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %s, %q : tensor<2x32xf32>, !tgraph.q8<2x32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, !tgraph.q8<2x32>
}
