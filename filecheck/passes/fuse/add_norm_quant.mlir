// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @sum_kept
func.func @sum_kept(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>, %w: tensor<32xf32>)
    -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %s, %q = tgraph.fused add_norm_quant(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}, %w_1 = %w : {{.*}}) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT:   %s_1, %h = tgraph.fused add_norm(
  // CHECK-NEXT:     tgraph.elementwise add {{.*}} number 0
  // CHECK-NEXT:     tgraph.fused_row rms {{.*}} number 1
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %q_1 = tgraph.quantize %h number 2
  // CHECK-NEXT:   tgraph.yield %s_1, %q_1
  // CHECK-NEXT: }
  %s = tgraph.elementwise add %x, %y number 0 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 number 1 : tensor<1x32xf32>
  %q = tgraph.quantize %h number 2 : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %s, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}

// Sum, f32 form and quantized form, each with a reader.
// CHECK-LABEL: func.func @all_kept
func.func @all_kept(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %s, %h, %q = tgraph.fused add_norm_quant(
  // CHECK-NEXT:   %s_1, %h_1 = tgraph.fused add_norm(
  // CHECK:        tgraph.yield %s_1, %h_1, %q_1
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %q = tgraph.quantize %h : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %s, %h, %q : tensor<1x32xf32>, tensor<1x32xf32>, !tgraph.q8<1x32>
}

// -----

// It is the sum that is quantized, not the norm.
// CHECK-LABEL: func.func @of_the_sum
func.func @of_the_sum(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> (tensor<1x32xf32>, !tgraph.q8<1x32>) {
  // CHECK-NEXT: %s, %h = tgraph.fused add_norm(
  // CHECK:      }
  // CHECK-NEXT: tgraph.quantize %s
  // CHECK-NEXT: func.return
  %s = tgraph.elementwise add %x, %y : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %h = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
  %q = tgraph.quantize %s : tensor<1x32xf32> -> !tgraph.q8<1x32>
  func.return %h, %q : tensor<1x32xf32>, !tgraph.q8<1x32>
}
