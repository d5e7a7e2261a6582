// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A slice of every head.

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %a = launch.alloc : memref<2x16xf32>
// CHECK-NEXT: launch.slice(x = %x : memref<2x32xf32>, out = %a : memref<2x16xf32>) {start = 8 : i64, width = 8 : i64, every = 16 : i64} covers [0]
// CHECK-NEXT: func.return %a : memref<2x16xf32>
func.func @slice(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x16xf32>) {
  %a = tgraph.head_slice %x start 8 width 8 every 16 : tensor<2x32xf32> -> tensor<2x16xf32>
  func.return %a : tensor<2x16xf32>
}
