// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "view_of_a_vector"
// CHECK: | Operation does not verify: view x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @view_of_a_vector(%x: tensor<64xf32>) {
  %r = tgraph.view %x offset 0 : tensor<64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_as_a_vector"
// CHECK: | Operation does not verify: view result: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @view_as_a_vector(%x: tensor<2x64xf32>) {
  %r = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<64xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_of_more_than_there_is"
// CHECK: | Operation does not verify: view result: expected at most x's 128 values, got 256
func.func @view_of_more_than_there_is(%x: tensor<2x64xf32>) {
  %r = tgraph.view %x offset 0 : tensor<2x64xf32> -> tensor<4x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_past_the_end"
// CHECK: | Operation does not verify: view offset: expected 0 to 64 (64 of 128 values), got 65
func.func @view_past_the_end(%x: tensor<2x64xf32>) {
  %r = tgraph.view %x offset 65 : tensor<2x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_before_the_start"
// CHECK: | Operation does not verify: view offset: expected 0 to 64 (64 of 128 values), got -1
func.func @view_before_the_start(%x: tensor<2x64xf32>) {
  %r = tgraph.view %x offset -1 : tensor<2x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "transpose_of_a_vector"
// CHECK: | Operation does not verify: transpose x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @transpose_of_a_vector(%x: tensor<64xf32>) {
  %r = tgraph.transpose %x : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "transpose_to_its_own_shape"
// CHECK: | Operation does not verify: transpose result: expected (64, 2), got (2, 64)
func.func @transpose_to_its_own_shape(%x: tensor<2x64xf32>) {
  %r = tgraph.transpose %x : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_of_a_vector"
// CHECK: | Operation does not verify: head_slice x: expected a static tensor<RxWxf32> or tensor<RxWxf16>, got tensor<64xf32>
func.func @head_slice_of_a_vector(%x: tensor<64xf32>) {
  %r = tgraph.head_slice %x start 0 width 8 every 16 : tensor<64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_of_nothing"
// CHECK: | Operation does not verify: width: expected at least 1, got 0
func.func @head_slice_of_nothing(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start 0 width 0 every 16 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_of_every_nothing"
// CHECK: | Operation does not verify: every: expected at least 1, got 0
func.func @head_slice_of_every_nothing(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start 0 width 8 every 0 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_that_does_not_divide"
// CHECK: | Operation does not verify: head_slice every: expected a divisor of the row's 64 values, got 48
func.func @head_slice_that_does_not_divide(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start 0 width 8 every 48 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_before_the_start"
// CHECK: | Operation does not verify: head_slice: expected a range inside every 16 values, got [-1, 7)
func.func @head_slice_before_the_start(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start -1 width 8 every 16 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_past_its_head"
// CHECK: | Operation does not verify: head_slice: expected a range inside every 16 values, got [9, 17)
func.func @head_slice_past_its_head(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start 9 width 8 every 16 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "head_slice_to_another_width"
// CHECK: | Operation does not verify: head_slice result: expected tensor<2x32xf32>, got tensor<2x64xf32>
func.func @head_slice_to_another_width(%x: tensor<2x64xf32>) {
  %r = tgraph.head_slice %x start 0 width 8 every 16 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_of_indices_as_values"
// CHECK: | Operation does not verify: view result: expected tensor<Nxi32>, got tensor<1x1xf32>
func.func @view_of_indices_as_values(%p: tensor<3xi32>) {
  %r = tgraph.view %p offset 0 : tensor<3xi32> -> tensor<1x1xf32>
  func.return
}

// -----

// CHECK: sym_name = "view_past_the_last_index"
// CHECK: | Operation does not verify: view offset: expected 0 to 2 (1 of 3 values), got 3
func.func @view_past_the_last_index(%p: tensor<3xi32>) {
  %r = tgraph.view %p offset 3 : tensor<3xi32> -> tensor<1xi32>
  func.return
}
