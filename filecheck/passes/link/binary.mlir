// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Two-operand arithmetic, b as it is, as one row, as one column.

// CHECK-LABEL: func.func @binary(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.binary(a = %x : memref<2x32xf32>, b = %y : memref<2x32xf32>, out = %a : memref<2x32xf32>) {kind = #tgraph<binary_kind sub>} covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.binary(a = %a : memref<2x32xf32>, b = %r : memref<1x32xf32>, out = %b : memref<2x32xf32>) {kind = #tgraph<binary_kind add>} covers [1]
// CHECK-NEXT: %d = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.binary(a = %b : memref<2x32xf32>, b = %c : memref<2x1xf32>, out = %d : memref<2x32xf32>) {kind = #tgraph<binary_kind div>} covers [2]
// CHECK-NEXT: func.return %d : memref<2x32xf32>
func.func @binary(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>, %r: tensor<1x32xf32>, %c: tensor<2x1xf32>) -> (tensor<2x32xf32>) {
  %a = tgraph.elementwise sub %x, %y : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %b = tgraph.elementwise add %a, %r : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %d = tgraph.elementwise div %b, %c : (tensor<2x32xf32>, tensor<2x1xf32>) -> tensor<2x32xf32>
  func.return %d : tensor<2x32xf32>
}
