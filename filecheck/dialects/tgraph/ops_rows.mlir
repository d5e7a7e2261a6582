// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Norms of groups of a row, and rotary positions.

// CHECK-LABEL: func.func @fused_row(
// GENERIC-LABEL: sym_name = "fused_row"
func.func @fused_row(%x: tensor<2x64xf32>, %r: tensor<2x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>, %h: tensor<16xf32>) {
  // CHECK-NEXT: %y0 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.fused_row"(%x) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.000000e-06 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y0 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.fused_row rms %x weight %w : tensor<64xf32> cols 64 eps 1.000000e-05 number 1 : tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.fused_row"(%x, %w) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.000000e-05 : f32, number = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.fused_row rms %x weight %w : tensor<64xf32> cols 64 eps 1.000000e-05 number 1 : tensor<2x64xf32>
  // A head at a time.
  // CHECK-NEXT: %y2 = tgraph.fused_row rms %x weight %h : tensor<16xf32> cols 16 eps 0.000000e+00 : tensor<2x64xf32>
  // GENERIC-NEXT: %y2 = "tgraph.fused_row"(%x, %h) <{kind = #tgraph<norm_kind rms>, cols = 16 : i64, eps = 0.000000e+00 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<2x64xf32>, tensor<16xf32>) -> tensor<2x64xf32>
  %y2 = tgraph.fused_row rms %x weight %h : tensor<16xf32> cols 16 eps 0.000000e+00 : tensor<2x64xf32>
  // CHECK-NEXT: %y3 = tgraph.fused_row layernorm %x weight %w : tensor<64xf32> bias %b : tensor<64xf32> cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  // GENERIC-NEXT: %y3 = "tgraph.fused_row"(%x, %w, %b) <{kind = #tgraph<norm_kind layernorm>, cols = 64 : i64, eps = 1.000000e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x64xf32>
  %y3 = tgraph.fused_row layernorm %x weight %w : tensor<64xf32> bias %b : tensor<64xf32> cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  // CHECK-NEXT: %y4 = tgraph.fused_row layernorm %x bias %b : tensor<64xf32> residual %r cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  // GENERIC-NEXT: %y4 = "tgraph.fused_row"(%x, %b, %r) <{kind = #tgraph<norm_kind layernorm>, cols = 64 : i64, eps = 1.000000e-05 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 1>}> : (tensor<2x64xf32>, tensor<64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y4 = tgraph.fused_row layernorm %x bias %b : tensor<64xf32> residual %r cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  // CHECK-NEXT: %y5 = tgraph.fused_row softmax %x residual %r cols 64 number 2 : tensor<2x64xf32>
  // GENERIC-NEXT: %y5 = "tgraph.fused_row"(%x, %r) <{kind = #tgraph<norm_kind softmax>, cols = 64 : i64, number = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y5 = tgraph.fused_row softmax %x residual %r cols 64 number 2 : tensor<2x64xf32>
  // CHECK-NEXT: %y6 = tgraph.fused_row rms %x weight %w : tensor<64xf32> bias %b : tensor<64xf32> residual %r cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  // GENERIC-NEXT: %y6 = "tgraph.fused_row"(%x, %w, %b, %r) <{kind = #tgraph<norm_kind rms>, cols = 64 : i64, eps = 1.000000e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y6 = tgraph.fused_row rms %x weight %w : tensor<64xf32> bias %b : tensor<64xf32> residual %r cols 64 eps 1.000000e-05 : tensor<2x64xf32>
  func.return
}

// CHECK-LABEL: func.func @rope(
// GENERIC-LABEL: sym_name = "rope"
func.func @rope(%x: tensor<2x64xf32>, %c: tensor<256x8xf32>, %s: tensor<256x8xf32>, %c2: tensor<2x4xf32>, %s2: tensor<2x4xf32>, %pos: tensor<1xi32>) {
  // CHECK-NEXT: %y0 = tgraph.rope %x, %c, %s at %pos heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<256x8xf32>, tensor<256x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.rope"(%x, %c, %s, %pos) <{heads = 4 : i64, head_dim = 16 : i64, half = 8 : i64}> : (tensor<2x64xf32>, tensor<256x8xf32>, tensor<256x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %y0 = tgraph.rope %x, %c, %s at %pos heads 4 head_dim 16 half 8 : (tensor<2x64xf32>, tensor<256x8xf32>, tensor<256x8xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  // Tables cut to the rows; a part of each head.
  // CHECK-NEXT: %y1 = tgraph.rope %x, %c2, %s2 heads 4 head_dim 16 half 4 number 3 : (tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.rope"(%x, %c2, %s2) <{heads = 4 : i64, head_dim = 16 : i64, half = 4 : i64, number = 3 : i64}> : (tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.rope %x, %c2, %s2 heads 4 head_dim 16 half 4 number 3 : (tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x64xf32>
  func.return
}
