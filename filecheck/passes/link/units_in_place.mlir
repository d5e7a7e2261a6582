// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The producers write their units of the joined rows; the last covers the join. In a row_in_place they land in the table.

// CHECK-LABEL: func.func @joined(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %j = launch.alloc : memref<1x128xf32>
// CHECK-NEXT: launch.head_gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<q8_0, 64x32, transposed>, out = %j : memref<1x128xf32>) {heads = 2 : i64, inputs = 32 : i64, outputs = 32 : i64, unit_pitch = 64 : i64, unit_offset = 0 : i64} covers [0]
// CHECK-NEXT: launch.rope(x = %y : memref<1x64xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %pos : memref<1xi32>, out = %j : memref<1x128xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, unit_pitch = 64 : i64, unit_offset = 32 : i64} covers [1, 2]
// CHECK-NEXT: func.return %j : memref<1x128xf32>
// CHECK-NEXT: }
func.func @joined(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> (tensor<1x128xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %c = tgraph.constant #tgraph.checkpoint<"c"> : tensor<8x16xf32>
  %a = tgraph.head_matmul %x, %w heads 2 inputs 32 outputs 32 : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<1x64xf32>
  %b = tgraph.rope %y, %c, %c at %pos heads 2 head_dim 32 half 16 : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %j = tgraph.join %a, %b heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  func.return %j : tensor<1x128xf32>
}

// -----

// CHECK-LABEL: func.func @in_a_table(
// CHECK-SAME: launch.lifted = 4 : i64
// CHECK: launch.norm(x = %x : memref<1x64xf32>, w = %n : memref<64xf32>, out = %t : memref<8x96xf32>, at = %pos : memref<1xi32>) {cols = 64 : i64, eps = 1.000000e+00 : f32, unit_pitch = 96 : i64, unit_offset = 0 : i64} covers [0]
// CHECK-NEXT: launch.rope(x = %y : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %pos : memref<1xi32>, out = %t : memref<8x96xf32>, at = %pos : memref<1xi32>) {heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64, unit_pitch = 96 : i64, unit_offset = 64 : i64} covers [1, 2, 3]
// CHECK-NEXT: func.return
// CHECK-NEXT: }
func.func @in_a_table(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %y: tensor<1x32xf32>, %t: tensor<8x96xf32> {tgraph.state = "t"}) -> (tensor<8x96xf32> {tgraph.carry = 4}) {
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %c = tgraph.constant #tgraph.checkpoint<"c"> : tensor<8x16xf32>
  %a = tgraph.fused_row rms %x weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  %b = tgraph.rope %y, %c, %c at %pos heads 1 head_dim 32 half 16 : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %j = tgraph.join %a, %b heads 1 : (tensor<1x64xf32>, tensor<1x32xf32>) -> tensor<1x96xf32>
  %t1 = tgraph.set_row %t, %j at %pos : (tensor<8x96xf32>, tensor<1x96xf32>, tensor<1xi32>) -> tensor<8x96xf32>
  func.return %t1 : tensor<8x96xf32>
}
