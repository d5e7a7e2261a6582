// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Parts of tensors.

// CHECK-LABEL: func.func @view(
// GENERIC-LABEL: sym_name = "view"
func.func @view(%x: tensor<8x64xf32>) {
  // CHECK-NEXT: %r0 = tgraph.view %x offset 128 : tensor<8x64xf32> -> tensor<1x128xf32>
  // GENERIC: %r0 = "tgraph.view"(%x) <{offset = 128 : i64}> : (tensor<8x64xf32>) -> tensor<1x128xf32>
  %r0 = tgraph.view %x offset 128 : tensor<8x64xf32> -> tensor<1x128xf32>
  // To the last value.
  // CHECK-NEXT: %r1 = tgraph.view %x offset 500 number 1 : tensor<8x64xf32> -> tensor<3x4xf32>
  // GENERIC-NEXT: %r1 = "tgraph.view"(%x) <{offset = 500 : i64, number = 1 : i64}> : (tensor<8x64xf32>) -> tensor<3x4xf32>
  %r1 = tgraph.view %x offset 500 number 1 : tensor<8x64xf32> -> tensor<3x4xf32>
  // CHECK-NEXT: %r2 = tgraph.view %x offset 0 : tensor<8x64xf32> -> tensor<64x8xf32>
  // GENERIC-NEXT: %r2 = "tgraph.view"(%x) <{offset = 0 : i64}> : (tensor<8x64xf32>) -> tensor<64x8xf32>
  %r2 = tgraph.view %x offset 0 : tensor<8x64xf32> -> tensor<64x8xf32>
  func.return
}

// CHECK-LABEL: func.func @transpose(
// GENERIC-LABEL: sym_name = "transpose"
func.func @transpose(%x: tensor<8x64xf32>) {
  // CHECK-NEXT: %r0 = tgraph.transpose %x number 4 : tensor<8x64xf32> -> tensor<64x8xf32>
  // GENERIC: %r0 = "tgraph.transpose"(%x) <{number = 4 : i64}> : (tensor<8x64xf32>) -> tensor<64x8xf32>
  %r0 = tgraph.transpose %x number 4 : tensor<8x64xf32> -> tensor<64x8xf32>
  func.return
}

// CHECK-LABEL: func.func @head_slice(
// GENERIC-LABEL: sym_name = "head_slice"
func.func @head_slice(%x: tensor<8x64xf32>) {
  // CHECK-NEXT: %r0 = tgraph.head_slice %x start 0 width 8 every 16 : tensor<8x64xf32> -> tensor<8x32xf32>
  // GENERIC: %r0 = "tgraph.head_slice"(%x) <{start = 0 : i64, width = 8 : i64, every = 16 : i64}> : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %r0 = tgraph.head_slice %x start 0 width 8 every 16 : tensor<8x64xf32> -> tensor<8x32xf32>
  // CHECK-NEXT: %r1 = tgraph.head_slice %x start 12 width 4 every 16 number 2 : tensor<8x64xf32> -> tensor<8x16xf32>
  // GENERIC-NEXT: %r1 = "tgraph.head_slice"(%x) <{start = 12 : i64, width = 4 : i64, every = 16 : i64, number = 2 : i64}> : (tensor<8x64xf32>) -> tensor<8x16xf32>
  %r1 = tgraph.head_slice %x start 12 width 4 every 16 number 2 : tensor<8x64xf32> -> tensor<8x16xf32>
  func.return
}

// CHECK-LABEL: func.func @view_of_positions(
// GENERIC-LABEL: sym_name = "view_of_positions"
func.func @view_of_positions(%p: tensor<3xi32>) {
  // CHECK-NEXT: %r0 = tgraph.view %p offset 2 number 1 : tensor<3xi32> -> tensor<1xi32>
  // GENERIC: %r0 = "tgraph.view"(%p) <{offset = 2 : i64, number = 1 : i64}> : (tensor<3xi32>) -> tensor<1xi32>
  %r0 = tgraph.view %p offset 2 number 1 : tensor<3xi32> -> tensor<1xi32>
  func.return
}
