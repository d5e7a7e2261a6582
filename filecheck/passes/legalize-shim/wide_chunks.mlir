// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file | filecheck %s

// No block of a product on tensor cores has a whole row: nine quantized rows' norm is a launch of its own.
// CHECK-LABEL: func.func @nine_rows(
// CHECK-NEXT: %w = tgraph.constant
// CHECK-NEXT: %y = tgraph.matmul %x, %w number 0
// CHECK-NEXT: %n = tgraph.fused_row rms %y cols 64 eps 1.000000e-06 number 1
func.func @nine_rows(%token: tensor<9xi32> {tgraph.token}, %x: !tgraph.q8<9x32>) -> tensor<9x64xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %h = tgraph.fused gemv_norm_epilogue(%a = %x : !tgraph.q8<9x32>, %b = %w : !tgraph.rows<q8_0, 64x32, transposed>) -> (tensor<9x64xf32>) {
    %y = tgraph.matmul %a, %b : (!tgraph.q8<9x32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<9x64xf32>
    %n = tgraph.fused_row rms %y cols 64 eps 1.000000e-06 : tensor<9x64xf32>
    tgraph.yield %n : tensor<9x64xf32>
  }
  func.return %h : tensor<9x64xf32>
}

// -----

// Eight rows stream the matrix, and so do rows of f32.
// CHECK-LABEL: func.func @eight_rows(
// CHECK: tgraph.fused gemv_norm_epilogue(
func.func @eight_rows(%token: tensor<8xi32> {tgraph.token}, %x: !tgraph.q8<8x32>) -> tensor<8x64xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %h = tgraph.fused gemv_norm_epilogue(%a = %x : !tgraph.q8<8x32>, %b = %w : !tgraph.rows<q8_0, 64x32, transposed>) -> (tensor<8x64xf32>) {
    %y = tgraph.matmul %a, %b : (!tgraph.q8<8x32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<8x64xf32>
    %n = tgraph.fused_row rms %y cols 64 eps 1.000000e-06 : tensor<8x64xf32>
    tgraph.yield %n : tensor<8x64xf32>
  }
  func.return %h : tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func.func @rows_of_f32(
// CHECK: tgraph.fused gemv_norm_epilogue(
func.func @rows_of_f32(%token: tensor<9xi32> {tgraph.token}, %x: tensor<9x32xf32>) -> tensor<9x64xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %h = tgraph.fused gemv_norm_epilogue(%a = %x : tensor<9x32xf32>, %b = %w : !tgraph.rows<q8_0, 64x32, transposed>) -> (tensor<9x64xf32>) {
    %y = tgraph.matmul %a, %b : (tensor<9x32xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<9x64xf32>
    %n = tgraph.fused_row rms %y cols 64 eps 1.000000e-06 : tensor<9x64xf32>
    tgraph.yield %n : tensor<9x64xf32>
  }
  func.return %h : tensor<9x64xf32>
}

// -----

// Heads of 64 values lie whole in a tile of 128 outputs, and are turned there.
// CHECK-LABEL: func.func @heads_of_64(
// CHECK: tgraph.fused qkv_head_epilogue(
func.func @heads_of_64(%token: tensor<9xi32> {tgraph.token}, %x: !tgraph.q8<9x32>, %c: tensor<9x16xf32>, %s: tensor<9x16xf32>) -> tensor<9x192xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 192x32, transposed>
  %h = tgraph.fused qkv_head_epilogue(%a = %x : !tgraph.q8<9x32>, %b = %w : !tgraph.rows<q8_0, 192x32, transposed>, %e = %c : tensor<9x16xf32>, %f = %s : tensor<9x16xf32>) -> (tensor<9x192xf32>) {
    %y = tgraph.matmul %a, %b : (!tgraph.q8<9x32>, !tgraph.rows<q8_0, 192x32, transposed>) -> tensor<9x192xf32>
    %r = tgraph.rope %y, %e, %f heads 3 head_dim 64 half 16 : (tensor<9x192xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x192xf32>
    tgraph.yield %r : tensor<9x192xf32>
  }
  func.return %h : tensor<9x192xf32>
}

// -----

// Heads of 96 do not: the product, then the rotation.
// CHECK-LABEL: func.func @heads_of_96(
// CHECK-NEXT: %w = tgraph.constant
// CHECK-NEXT: %y = tgraph.matmul %x, %w number 0
// CHECK-NEXT: %r = tgraph.rope %y
func.func @heads_of_96(%token: tensor<9xi32> {tgraph.token}, %x: !tgraph.q8<9x32>, %c: tensor<9x16xf32>, %s: tensor<9x16xf32>) -> tensor<9x192xf32> {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 192x32, transposed>
  %h = tgraph.fused qkv_head_epilogue(%a = %x : !tgraph.q8<9x32>, %b = %w : !tgraph.rows<q8_0, 192x32, transposed>, %e = %c : tensor<9x16xf32>, %f = %s : tensor<9x16xf32>) -> (tensor<9x192xf32>) {
    %y = tgraph.matmul %a, %b : (!tgraph.q8<9x32>, !tgraph.rows<q8_0, 192x32, transposed>) -> tensor<9x192xf32>
    %r = tgraph.rope %y, %e, %f heads 2 head_dim 96 half 16 : (tensor<9x192xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x192xf32>
    tgraph.yield %r : tensor<9x192xf32>
  }
  func.return %h : tensor<9x192xf32>
}
