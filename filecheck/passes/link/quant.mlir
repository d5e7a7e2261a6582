// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Quantizing, into one plane or two.

// CHECK-LABEL: func.func @quant(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.quant(x = %x : memref<2x32xf32>, quant = %a : !tgraph.q8<2x32>) covers [0]
// CHECK-NEXT: %b = launch.alloc : !tgraph.q8<2x32, two_plane>
// CHECK-NEXT: launch.quant(x = %x : memref<2x32xf32>, quant = %b : !tgraph.q8<2x32, two_plane>) covers [1]
// CHECK-NEXT: func.return %a, %b : !tgraph.q8<2x32>, !tgraph.q8<2x32, two_plane>
func.func @quant(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (!tgraph.q8<2x32>, !tgraph.q8<2x32, two_plane>) {
  %a = tgraph.quantize %x : tensor<2x32xf32> -> !tgraph.q8<2x32>
  %b = tgraph.quantize %x : tensor<2x32xf32> -> !tgraph.q8<2x32, two_plane>
  func.return %a, %b : !tgraph.q8<2x32>, !tgraph.q8<2x32, two_plane>
}
