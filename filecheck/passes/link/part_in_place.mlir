// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// A part of every unit is read where it lies; values in the rows of their keys.

// CHECK-LABEL: func.func @rope(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.rope(x = %x : memref<1x128xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %pos : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, x_pitch = 64 : i64, x_offset = 32 : i64} covers [0, 1]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @rope(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x128xf32>) -> (tensor<1x64xf32>) {
  %c = tgraph.constant #tgraph.checkpoint<"c"> : tensor<8x16xf32>
  %a = tgraph.head_slice %x start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %y = tgraph.rope %a, %c, %c at %pos heads 2 head_dim 32 half 16 : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @norm(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.norm(x = %x : memref<1x128xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e+00 : f32, x_pitch = 128 : i64, x_offset = 0 : i64} covers [0, 1]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @norm(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x128xf32>) -> (tensor<1x64xf32>) {
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %a = tgraph.head_slice %x start 0 width 64 every 128 : tensor<1x128xf32> -> tensor<1x64xf32>
  %y = tgraph.fused_row rms %a weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @values(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<1x32xf32>
// CHECK-NEXT: launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %pos : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 0.176776692 : f32, v_pitch = 32 : i64, v_offset = 8 : i64} covers [0, 1]
// CHECK-NEXT: func.return %y : memref<1x32xf32>
// CHECK-NEXT: }
func.func @values(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<1x64xf32>, %k: tensor<8x64xf32>) -> (tensor<1x32xf32>) {
  %v = tgraph.head_slice %k start 8 width 16 every 32 : tensor<8x64xf32> -> tensor<8x32xf32>
  %y = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 2 head_dim 32 value_dim 16 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x32xf32> -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}
