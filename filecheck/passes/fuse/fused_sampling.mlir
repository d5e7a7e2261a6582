// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<1x32xf32>, %pos: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  // CHECK-NEXT: %t, %p = tgraph.fused fused_sampling(%x_1 = %x : tensor<1x32xf32>, %pos_1 = %pos : tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  // CHECK-NEXT:   %t_1 = tgraph.arg_max %x_1 number 0
  // CHECK-NEXT:   %p_1 = tgraph.advance %pos_1 by 1 number 1
  // CHECK-NEXT:   tgraph.yield %t_1, %p_1
  // CHECK-NEXT: }
  %t = tgraph.arg_max %x number 0 : tensor<1x32xf32> -> tensor<1xi32>
  %p = tgraph.advance %pos by 1 number 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %t, %p : tensor<1xi32>, tensor<1xi32>
}

// The advance comes first, the logits after it.
// CHECK-LABEL: func.func @advance_first
func.func @advance_first(%x: tensor<1x32xf32>, %pos: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  // CHECK-NEXT: tgraph.silu
  // CHECK-NEXT: %p, %t = tgraph.fused fused_sampling(
  // CHECK-NEXT:   tgraph.advance
  // CHECK-NEXT:   tgraph.arg_max
  // CHECK-NEXT:   tgraph.yield %p_1, %t_1
  %p = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  %y = tgraph.silu %x : tensor<1x32xf32> -> tensor<1x32xf32>
  %t = tgraph.arg_max %y : tensor<1x32xf32> -> tensor<1xi32>
  func.return %t, %p : tensor<1xi32>, tensor<1xi32>
}

// -----

// CHECK-LABEL: func.func @several_rows
// CHECK-NOT: tgraph.fused
func.func @several_rows(%x: tensor<3x32xf32>, %pos: tensor<1xi32>) -> (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>) {
  %t = tgraph.arg_max %x : tensor<3x32xf32> -> tensor<3xi32>
  %p = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  %r = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %t, %p, %r : tensor<3xi32>, tensor<1xi32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @further
// CHECK-NOT: tgraph.fused
func.func @further(%x: tensor<1x32xf32>, %pos: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) {
  %t = tgraph.arg_max %x : tensor<1x32xf32> -> tensor<1xi32>
  %u = tgraph.arg_max %x : tensor<1x32xf32> -> tensor<1xi32>
  %p = tgraph.advance %pos by 3 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %t, %u, %p : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
}

// The choice waits for a row that the moved position reads.
// CHECK-LABEL: func.func @choice_after_position
// CHECK-NOT: tgraph.fused
func.func @choice_after_position(%table: tensor<8x32xf32>, %pos: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %p = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  %x = tgraph.row_gather %table at %p : (tensor<8x32xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %t = tgraph.arg_max %x : tensor<1x32xf32> -> tensor<1xi32>
  func.return %t, %p : tensor<1xi32>, tensor<1xi32>
}

// A token that is advanced is not moved on beside its choice.
// CHECK-LABEL: func.func @advanced_token
// CHECK-NOT: tgraph.fused
func.func @advanced_token(%x: tensor<1x32xf32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %t = tgraph.arg_max %x : tensor<1x32xf32> -> tensor<1xi32>
  %p = tgraph.advance %t by 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %t, %p : tensor<1xi32>, tensor<1xi32>
}

// -----

// A batch: a row and a position of each sequence.
// CHECK-LABEL: func.func @batch
// CHECK-NEXT: %t, %p = tgraph.fused fused_sampling({{.*}}) -> (tensor<3xi32>, tensor<3xi32>) {
func.func @batch(%x: tensor<3x32xf32>, %pos: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %t = tgraph.arg_max %x : tensor<3x32xf32> -> tensor<3xi32>
  %p = tgraph.advance %pos by 1 : (tensor<3xi32>) -> tensor<3xi32>
  func.return %t, %p : tensor<3xi32>, tensor<3xi32>
}
