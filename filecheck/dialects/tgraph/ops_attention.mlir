// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Causal attention over tables, with every option.

// CHECK-LABEL: func.func @attention(
// GENERIC-LABEL: sym_name = "attention"
func.func @attention(%q: tensor<2x64xf32>, %k: tensor<32x32xf32>, %v: tensor<32x32xf32>, %n: tensor<32x8xf32>, %pos: tensor<1xi32>, %sinks: tensor<4xf32>) {
  // CHECK-NEXT: %o0 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC: %o0 = "tgraph.attention"(%q, %k, %v, %pos) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %o0 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // All rows of the tables; a value head of its own size.
  // CHECK-NEXT: %o1 = tgraph.attention %q, %k, %n heads 4 kv_heads 2 head_dim 16 value_dim 4 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x8xf32> -> tensor<2x16xf32>
  // GENERIC-NEXT: %o1 = "tgraph.attention"(%q, %k, %n) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x8xf32>) -> tensor<2x16xf32>
  %o1 = tgraph.attention %q, %k, %n heads 4 kv_heads 2 head_dim 16 value_dim 4 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x8xf32> -> tensor<2x16xf32>
  // CHECK-NEXT: %o2 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %o2 = "tgraph.attention"(%q, %k, %v, %pos) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, window = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %o2 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %o3 = tgraph.attention %q, %k, %v at %pos sinks %sinks : tensor<4xf32> heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 scale 2.500000e-01 softcap 5.000000e+01 number 7 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %o3 = "tgraph.attention"(%q, %k, %v, %pos, %sinks) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, window = 8 : i64, scale = 2.500000e-01 : f32, softcap = 5.000000e+01 : f32, number = 7 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<2x64xf32>
  %o3 = tgraph.attention %q, %k, %v at %pos sinks %sinks : tensor<4xf32> heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 scale 2.500000e-01 softcap 5.000000e+01 number 7 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %o4 = tgraph.attention %q, %k, %v sinks %sinks : tensor<4xf32> heads 4 kv_heads 2 head_dim 16 value_dim 16 softcap 0x4CEB79A3 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %o4 = "tgraph.attention"(%q, %k, %v, %sinks) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, softcap = 0x4CEB79A3 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4xf32>) -> tensor<2x64xf32>
  %o4 = tgraph.attention %q, %k, %v sinks %sinks : tensor<4xf32> heads 4 kv_heads 2 head_dim 16 value_dim 16 softcap 0x4CEB79A3 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // A window that is a chunk.
  // CHECK-NEXT: %o6 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 chunked number 2 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %o6 = "tgraph.attention"(%q, %k, %v, %pos) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, window = 8 : i64, chunked, number = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %o6 = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 window 8 chunked number 2 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %o5 = tgraph.attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 value_dim 16 scale 0.0883883461 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %o5 = "tgraph.attention"(%q, %k, %v) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 0.0883883461 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<2x64xf32>
  %o5 = tgraph.attention %q, %k, %v heads 4 kv_heads 2 head_dim 16 value_dim 16 scale 0.0883883461 : tensor<2x64xf32>, tensor<32x32xf32>, tensor<32x32xf32> -> tensor<2x64xf32>
  func.return
}

// Tables of f16, set and attended to; the values may be a slice of the keys' rows.

// CHECK-LABEL: func.func @tables_of_f16(
// GENERIC-LABEL: sym_name = "tables_of_f16"
func.func @tables_of_f16(%q: tensor<2x64xf32>, %r: tensor<2x32xf32>, %k: tensor<32x32xf16>, %v: tensor<32x32xf16>, %pos: tensor<1xi32>) {
  // CHECK-NEXT: %k1 = tgraph.set_row %k, %r at %pos : (tensor<32x32xf16>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<32x32xf16>
  // GENERIC: %k1 = "tgraph.set_row"(%k, %r, %pos) : (tensor<32x32xf16>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<32x32xf16>
  %k1 = tgraph.set_row %k, %r at %pos : (tensor<32x32xf16>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<32x32xf16>
  // CHECK-NEXT: %o = tgraph.attention %q, %k1, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf16>, tensor<32x32xf16> -> tensor<2x64xf32>
  %o = tgraph.attention %q, %k1, %v at %pos heads 4 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x64xf32>, tensor<32x32xf16>, tensor<32x32xf16> -> tensor<2x64xf32>
  // CHECK-NEXT: %s = tgraph.head_slice %k1 start 0 width 8 every 16 : tensor<32x32xf16> -> tensor<32x16xf16>
  %s = tgraph.head_slice %k1 start 0 width 8 every 16 : tensor<32x32xf16> -> tensor<32x16xf16>
  func.return
}
