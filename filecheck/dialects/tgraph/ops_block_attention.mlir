// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Attention of a block of rows over each other, unmasked.

// CHECK-LABEL: func.func @full_attention(
// GENERIC-LABEL: sym_name = "full_attention"
func.func @full_attention(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>) {
  // CHECK-NEXT: %o0 = tgraph.full_attention %q, %k, %k heads 4 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  // GENERIC: %o0 = "tgraph.full_attention"(%q, %k, %k) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64}> : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  %o0 = tgraph.full_attention %q, %k, %k heads 4 kv_heads 2 head_dim 16 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<8x64xf32>
  // CHECK-NEXT: %o1 = tgraph.full_attention %q, %q, %q heads 4 kv_heads 4 head_dim 16 scale 5.000000e-01 number 1 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  // GENERIC-NEXT: %o1 = "tgraph.full_attention"(%q, %q, %q) <{heads = 4 : i64, kv_heads = 4 : i64, head_dim = 16 : i64, scale = 5.000000e-01 : f32, number = 1 : i64}> : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %o1 = tgraph.full_attention %q, %q, %q heads 4 kv_heads 4 head_dim 16 scale 5.000000e-01 number 1 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return
}

// CHECK-LABEL: func.func @lut_attention(
// GENERIC-LABEL: sym_name = "lut_attention"
func.func @lut_attention(%q: tensor<8x64xf32>, %k: tensor<5x32xf32>, %t: tensor<16xf32>, %one: tensor<1xf32>) {
  // CHECK-NEXT: %o0 = tgraph.lut_attention %q, %k, %k, %t heads 4 kv_heads 2 head_dim 16 step 1.250000e-01 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  // GENERIC: %o0 = "tgraph.lut_attention"(%q, %k, %k, %t) <{heads = 4 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, step = 1.250000e-01 : f32}> : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  %o0 = tgraph.lut_attention %q, %k, %k, %t heads 4 kv_heads 2 head_dim 16 step 1.250000e-01 : (tensor<8x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>, tensor<16xf32>) -> tensor<8x64xf32>
  // CHECK-NEXT: %o1 = tgraph.lut_attention %q, %q, %q, %one heads 4 kv_heads 4 head_dim 16 step 1.000000e+00 number 2 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xf32>) -> tensor<8x64xf32>
  // GENERIC-NEXT: %o1 = "tgraph.lut_attention"(%q, %q, %q, %one) <{heads = 4 : i64, kv_heads = 4 : i64, head_dim = 16 : i64, step = 1.000000e+00 : f32, number = 2 : i64}> : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xf32>) -> tensor<8x64xf32>
  %o1 = tgraph.lut_attention %q, %q, %q, %one heads 4 kv_heads 4 head_dim 16 step 1.000000e+00 number 2 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xf32>) -> tensor<8x64xf32>
  func.return
}
