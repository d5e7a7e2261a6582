// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Attention over tables.

// CHECK-LABEL: func.func @attention(
// GENERIC-LABEL: sym_name = "attention"
func.func @attention(%q: memref<2x128xf32>, %k: memref<8x64xf32>, %v: memref<8x32xf32>, %p: memref<1xi32>, %s: memref<4xf32>, %y: memref<2x64xf32>, %z: !tgraph.q8<2x64>) {
  // CHECK-NEXT: launch.attention(q = %q : memref<2x128xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, out = %y : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 0.176776692 : f32} covers [0]
  // GENERIC: "launch.attention"(%q, %k, %v, %p, %y) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 0.176776692 : f32, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0>}> : (memref<2x128xf32>, memref<8x64xf32>, memref<8x32xf32>, memref<1xi32>, memref<2x64xf32>) -> ()
  launch.attention(q = %q : memref<2x128xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, out = %y : memref<2x64xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 0.176776692 : f32} covers [0]
  // CHECK-NEXT: launch.attention(q = %q : memref<2x128xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, sinks = %s : memref<4xf32>, out = %y : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, window = 4 : i64} covers [0, 1]
  // GENERIC-NEXT: "launch.attention"(%q, %k, %v, %p, %s, %y, %z) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, window = 4 : i64, covers = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> : (memref<2x128xf32>, memref<8x64xf32>, memref<8x32xf32>, memref<1xi32>, memref<4xf32>, memref<2x64xf32>, !tgraph.q8<2x64>) -> ()
  launch.attention(q = %q : memref<2x128xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x32xf32>, position = %p : memref<1xi32>, sinks = %s : memref<4xf32>, out = %y : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 16 : i64, scale = 1.000000e+00 : f32, window = 4 : i64} covers [0, 1]
  func.return
}
