// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Attention, with its window, sinks and scale.

// The scale is in the launch, given or not.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.attention(q = %x : memref<2x32xf32>, keys = %k : memref<8x32xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, out = %a : memref<2x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [0]
// CHECK-NEXT: %b = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.attention(q = %a : memref<2x32xf32>, keys = %k : memref<8x32xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, sinks = %s : memref<2xf32>, out = %b : memref<2x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 5.000000e-01 : f32, window = 3 : i64} covers [1]
// CHECK-NEXT: func.return %b : memref<2x32xf32>
func.func @attention(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %k: tensor<8x32xf32>, %v: tensor<8x32xf32>, %p: tensor<1xi32>) -> (tensor<2x32xf32>) {
  %s = tgraph.constant #tgraph.checkpoint<"s"> : tensor<2xf32>
  %a = tgraph.attention %x, %k, %v at %p heads 2 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<2x32xf32>
  %b = tgraph.attention %a, %k, %v at %p sinks %s : tensor<2xf32> heads 2 kv_heads 2 head_dim 16 value_dim 16 window 3 scale 0.5 : tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<2x32xf32>
  func.return %b : tensor<2x32xf32>
}
