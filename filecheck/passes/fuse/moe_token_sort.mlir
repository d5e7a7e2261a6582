// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A chunk of two rows: each row's view, its mixture, and the rows put together over what is all overwritten.
// CHECK-LABEL: func.func @chunk
func.func @chunk(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  // CHECK-NEXT: %u = tgraph.fused moe_token_sort(%x_1 = %x : {{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   %x0 = tgraph.view %x_1 offset 0
  // CHECK-NEXT:   %y0 = tgraph.moe softmax silu %x0
  // CHECK:        %x1 = tgraph.view %x_1 offset 64
  // CHECK-NEXT:   %y1 = tgraph.moe softmax silu %x1
  // CHECK:        %t = tgraph.set_row %x_1, %y0 row 0
  // CHECK-NEXT:   %u_1 = tgraph.set_row %t, %y1 row 1
  // CHECK-NEXT:   tgraph.yield %u_1
  // CHECK-NEXT: }
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// Read quantized, the router in f32; the rows go on into a norm with their residual.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<2x64xf32>, %res: tensor<2x64xf32>, %n: tensor<64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>) -> tensor<2x64xf32> {
  // CHECK-NEXT: tgraph.fused moe_deferred_finalize(
  // CHECK-NEXT:   tgraph.fused moe_token_sort(
  // CHECK-NEXT:     tgraph.view
  // CHECK-NEXT:     tgraph.quantize
  // CHECK-NEXT:     tgraph.moe {{.*}} router_x %x0
  // CHECK:          tgraph.view
  // CHECK-NEXT:     tgraph.quantize
  // CHECK-NEXT:     tgraph.moe {{.*}} router_x %x1
  // CHECK:          tgraph.set_row
  // CHECK-NEXT:     tgraph.set_row
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused add_norm(
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q0 = tgraph.quantize %x0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y0 = tgraph.moe softmax silu %q0, %r, %wg, %wu, %wd router_x %x0 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.quantize %x1 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y1 = tgraph.moe softmax silu %q1, %r, %wg, %wu, %wd router_x %x1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.elementwise add %res, %u : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %h = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  func.return %h : tensor<2x64xf32>
}

// -----

// Rows of the views exchanged.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: moe_token_sort
func.func @other_rows(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y1 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y0 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// Rows set in another order.
// CHECK-LABEL: func.func @other_order
// CHECK-NOT: moe_token_sort
func.func @other_order(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// The second mixture keeps another number of experts; has other weights; does not renormalize.
// CHECK-LABEL: func.func @other_choice
// CHECK-NOT: moe_token_sort
func.func @other_choice(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 1 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @other_weights
// CHECK-NOT: moe_token_sort
func.func @other_weights(%x: tensor<2x64xf32>, %w2: !tgraph.rows<bf16, 128x64, transposed>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %w2, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @other_sum
// CHECK-NOT: moe_token_sort
func.func @other_sum(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// Rows of two tensors; of a tensor of more rows.
// CHECK-LABEL: func.func @two_sources
// CHECK-NOT: moe_token_sort
func.func @two_sources(%x: tensor<2x64xf32>, %z: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %z offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @first_rows
// CHECK-NOT: moe_token_sort
func.func @first_rows(%x: tensor<3x64xf32>, %o: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<3x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<3x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %o, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// A row of the old table is left; a row's view, its mixture, or the table so far is read elsewhere.
// CHECK-LABEL: func.func @row_left
// CHECK-NOT: moe_token_sort
func.func @row_left(%x: tensor<3x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<3x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<3x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<3x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<3x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<3x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
  func.return %u : tensor<3x64xf32>
}

// CHECK-LABEL: func.func @view_read
// CHECK-NOT: moe_token_sort
func.func @view_read(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<2x64xf32>, tensor<1x64xf32>) {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.silu %x1 : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %u, %z : tensor<2x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @mixture_leaves
// CHECK-NOT: moe_token_sort
func.func @mixture_leaves(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<2x64xf32>, tensor<1x64xf32>) {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u, %y0 : tensor<2x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @table_leaves
// CHECK-NOT: moe_token_sort
func.func @table_leaves(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %y1 = tgraph.moe softmax silu %x1, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u, %t : tensor<2x64xf32>, tensor<2x64xf32>
}

// One row is no chunk.
// CHECK-LABEL: func.func @one_row
// CHECK-NOT: moe_token_sort
func.func @one_row(%x: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wu: !tgraph.rows<bf16, 128x64, transposed>, %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %y0 = tgraph.moe softmax silu %x0, %r, %wg, %wu, %wd experts 4 top_k 2 hidden 32 renormalize
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %t : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @router_of_other_rows
// CHECK-NOT: moe_token_sort
func.func @router_of_other_rows(%x: tensor<2x64xf32>, %z: tensor<1x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q0 = tgraph.quantize %x0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y0 = tgraph.moe softmax silu %q0, %r, %wg, %wu, %wd router_x %z : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.quantize %x1 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y1 = tgraph.moe softmax silu %q1, %r, %wg, %wu, %wd router_x %z : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// The router reads another row; a quantized row is read twice.
// CHECK-LABEL: func.func @other_router_row
// CHECK-NOT: moe_token_sort
func.func @other_router_row(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>) -> tensor<2x64xf32> {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q0 = tgraph.quantize %x0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y0 = tgraph.moe softmax silu %q0, %r, %wg, %wu, %wd router_x %x0 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.quantize %x1 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y1 = tgraph.moe softmax silu %q1, %r, %wg, %wu, %wd router_x %x0 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @quantized_row_leaves
// CHECK-NOT: moe_token_sort
func.func @quantized_row_leaves(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<q8_0, 128x64, transposed>,
    %wu: !tgraph.rows<q8_0, 128x64, transposed>, %wd: !tgraph.rows<q8_0, 256x32, transposed>) -> (tensor<2x64xf32>, !tgraph.q8<1x64>) {
  %x0 = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q0 = tgraph.quantize %x0 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y0 = tgraph.moe softmax silu %q0, %r, %wg, %wu, %wd router_x %x0 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %x1 = tgraph.view %x offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.quantize %x1 : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %y1 = tgraph.moe softmax silu %q1, %r, %wg, %wu, %wd router_x %x1 : tensor<1x64xf32> experts 4 top_k 2 hidden 32 renormalize
    : !tgraph.q8<1x64>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
      !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
  %t = tgraph.set_row %x, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u, %q1 : tensor<2x64xf32>, !tgraph.q8<1x64>
}
