// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A view names a buffer's part and runs nothing; it covers its op all the same.

// CHECK-LABEL: func.func @view(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %a = launch.view %x offset 32 covers [0] : memref<2x32xf32> -> memref<1x32xf32>
// CHECK-NEXT: %b = launch.view %a offset 16 covers [1] : memref<1x32xf32> -> memref<1x16xf32>
// CHECK-NEXT: %c = launch.alloc : memref<1x16xf32>
// CHECK-NEXT: launch.unary(x = %b : memref<1x16xf32>, out = %c : memref<1x16xf32>) {act = #launch<act silu>} covers [2]
// CHECK-NEXT: func.return %c : memref<1x16xf32>
func.func @view(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<1x16xf32>) {
  %a = tgraph.view %x offset 32 : tensor<2x32xf32> -> tensor<1x32xf32>
  %b = tgraph.view %a offset 16 : tensor<1x32xf32> -> tensor<1x16xf32>
  %c = tgraph.silu %b : tensor<1x16xf32> -> tensor<1x16xf32>
  func.return %c : tensor<1x16xf32>
}
