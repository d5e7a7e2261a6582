// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Rows of a constant table, by one index or several.

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.gather(table = %e : !tgraph.rows<bf16, 8x32>, index = %token : memref<2xi32>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<1x32xf32>
// CHECK-NEXT: launch.gather(table = %e : !tgraph.rows<bf16, 8x32>, index = %p : memref<1xi32>, out = %b : memref<1x32xf32>) covers [1]
// CHECK-NEXT: func.return %a, %b : memref<2x32xf32>, memref<1x32xf32>
func.func @gather(%token: tensor<2xi32> {tgraph.token}, %p: tensor<1xi32>) -> (tensor<2x32xf32>, tensor<1x32xf32>) {
  %e = tgraph.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 8x32>
  %a = tgraph.rows_gather %e at %token : (!tgraph.rows<bf16, 8x32>, tensor<2xi32>) -> tensor<2x32xf32>
  %b = tgraph.row_gather %e at %p : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  func.return %a, %b : tensor<2x32xf32>, tensor<1x32xf32>
}
