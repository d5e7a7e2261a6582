// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// The sum has another reader: it is kept. Numbers and operands stay; the parts keep their order.
// CHECK-LABEL: func.func @sum_kept
func.func @sum_kept(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>, %w: tensor<32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused add_norm(%x_1 = %x : tensor<1x32xf32>, %y_1 = %y : tensor<1x32xf32>, %w_1 = %w : tensor<32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT:   %s_1 = tgraph.elementwise add %x_1, %y_1 number 3
  // CHECK-NEXT:   %h_1 = tgraph.fused_row rms %s_1 weight %w_1 : tensor<32xf32> cols 32 eps 1.000000e-05 number 4
  // CHECK-NEXT:   tgraph.yield %s_1, %h_1
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %s, %h
  %s = tgraph.elementwise add %x, %y number 3 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s weight %w : tensor<32xf32> cols 32 eps 1.000000e-05 number 4 : tensor<1x32xf32>
  func.return %s, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @sum_dropped
func.func @sum_dropped(%x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> tensor<2x32xf32> {
  // CHECK-NEXT: %h = tgraph.fused add_norm(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  // CHECK-NEXT:   tgraph.elementwise add
  // CHECK-NEXT:   tgraph.fused_row layernorm
  // CHECK-NEXT:   tgraph.yield %h_1 : tensor<2x32xf32>
  // CHECK-NEXT: }
  %s = tgraph.elementwise add %x, %y : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %h = tgraph.fused_row layernorm %s cols 32 eps 1.000000e-06 : tensor<2x32xf32>
  func.return %h : tensor<2x32xf32>
}

// A reader of the sum stands before the norm: the fused op takes the sum's place.
// CHECK-LABEL: func.func @reader_between
func.func @reader_between(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused add_norm(
  // CHECK:      }
  // CHECK-NEXT: tgraph.silu %s
  // CHECK-NEXT: func.return
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %r = tgraph.silu %s : tensor<1x32xf32> -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %r, %h : tensor<1x32xf32>, tensor<1x32xf32>
}

// Two norms of one sum: the first takes it, the second reads what that keeps.
// CHECK-LABEL: func.func @two_norms
func.func @two_norms(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused add_norm(
  // CHECK-NEXT:   tgraph.elementwise add
  // CHECK-NEXT:   tgraph.fused_row rms {{.*}} eps 1.000000e-06
  // CHECK:      }
  // CHECK-NEXT: tgraph.fused_row rms %s cols 32 eps 1.000000e-05
  // CHECK-NEXT: func.return
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %g = tgraph.fused_row rms %s cols 32 eps 1.000000e-05 : tensor<1x32xf32>
  func.return %h, %g : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @other_sum
// CHECK-NOT: tgraph.fused add_norm
func.func @other_sum(%x: tensor<2x32xf32>, %y: tensor<2x32xf32>, %row: tensor<1x32xf32>, %column: tensor<2x1xf32>)
    -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>) {
  %0 = tgraph.elementwise sub %x, %y : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %1 = tgraph.fused_row rms %0 cols 32 eps 1.000000e-06 : tensor<2x32xf32>
  %2 = tgraph.elementwise add %x, %row : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
  %3 = tgraph.fused_row rms %2 cols 32 eps 1.000000e-06 : tensor<2x32xf32>
  %4 = tgraph.elementwise add %x, %column : (tensor<2x32xf32>, tensor<2x1xf32>) -> tensor<2x32xf32>
  %5 = tgraph.fused_row rms %4 cols 32 eps 1.000000e-06 : tensor<2x32xf32>
  func.return %1, %3, %5 : tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>
}

// A softmax, a norm of heads, a norm with a residual of its own, and a norm that reads the sum as its residual.
// CHECK-LABEL: func.func @other_norm
// CHECK-NOT: tgraph.fused add_norm
func.func @other_norm(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %0 = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %1 = tgraph.fused_row softmax %0 cols 32 : tensor<1x32xf32>
  %2 = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %3 = tgraph.fused_row rms %2 cols 16 eps 1.000000e-06 : tensor<1x32xf32>
  %4 = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %5 = tgraph.fused_row rms %4 residual %y cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %6 = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %7 = tgraph.fused_row rms %y residual %6 cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return %1, %3, %5, %7 : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// Nothing reads the norm or the sum: nothing would be kept.
// CHECK-LABEL: func.func @unread
// CHECK-NOT: tgraph.fused add_norm
func.func @unread(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) {
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  func.return
}
