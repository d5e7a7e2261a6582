// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @one_row
func.func @one_row(%token: tensor<1xi32>) -> tensor<1x32xf32> {
  // CHECK-NEXT: %t = tgraph.constant
  // CHECK-NEXT: %y = tgraph.fused embed_scale(%t_1 = %t : {{.*}}, %token_1 = %token : tensor<1xi32>) -> (tensor<1x32xf32>) {
  // CHECK-NEXT:   %x = tgraph.row_gather %t_1 at %token_1
  // CHECK-NEXT:   %y_1 = tgraph.scale %x by 8.000000e+00
  // CHECK-NEXT:   tgraph.yield %y_1
  // CHECK-NEXT: }
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %x = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %y = tgraph.scale %x by 8.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// CHECK-LABEL: func.func @several_rows
func.func @several_rows(%tokens: tensor<3xi32>) -> tensor<3x32xf32> {
  // CHECK:      tgraph.fused embed_scale(
  // CHECK-NEXT:   tgraph.rows_gather
  // CHECK-NEXT:   tgraph.scale
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : tensor<8x32xf32>
  %x = tgraph.rows_gather %t at %tokens : (tensor<8x32xf32>, tensor<3xi32>) -> tensor<3x32xf32>
  %y = tgraph.scale %x by 8.000000e+00 : tensor<3x32xf32> -> tensor<3x32xf32>
  func.return %y : tensor<3x32xf32>
}

// -----

// CHECK-LABEL: func.func @row_leaves
// CHECK-NOT: tgraph.fused
func.func @row_leaves(%token: tensor<1xi32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %x = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %y = tgraph.scale %x by 8.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %x, %y : tensor<1x32xf32>, tensor<1x32xf32>
}

// A fixed row, a computed table, a second scale.
// CHECK-LABEL: func.func @not_matched
func.func @not_matched(%token: tensor<1xi32>, %table: tensor<8x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK:      tgraph.row_gather {{.*}} row 3
  // CHECK-NEXT: tgraph.scale
  // CHECK-NEXT: tgraph.row_gather %table at %token
  // CHECK-NEXT: tgraph.scale
  // CHECK-NEXT: %y = tgraph.fused embed_scale(
  // CHECK:      tgraph.scale %y by 2.000000e+00
  // CHECK-NEXT: func.return
  %t = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 8x32>
  %0 = tgraph.row_gather %t row 3 : (!tgraph.rows<bf16, 8x32>) -> tensor<1x32xf32>
  %1 = tgraph.scale %0 by 8.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  %2 = tgraph.row_gather %table at %token : (tensor<8x32xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %3 = tgraph.scale %2 by 8.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  %4 = tgraph.row_gather %t at %token : (!tgraph.rows<bf16, 8x32>, tensor<1xi32>) -> tensor<1x32xf32>
  %y = tgraph.scale %4 by 8.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  %6 = tgraph.scale %y by 2.000000e+00 : tensor<1x32xf32> -> tensor<1x32xf32>
  func.return %1, %3, %6 : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}
