// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The attention stores its result gated; of a batch each row, by its row of the gate.

// CHECK-LABEL: func.func @one(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x64xf32>, position = %pos : memref<1xi32>, gate = %g : memref<1x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776692 : f32, gate_act = #launch<act sigmoid>} covers [0, 1, 2]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @one(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<1x64xf32>, %g: tensor<1x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) -> (tensor<1x64xf32>) {
  %a = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.elementwise mul %a, %s : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @batch(
// CHECK-SAME: launch.lifted = 8 : i64
// CHECK: %q0 = launch.view %q offset 0 covers [0] : memref<2x64xf32> -> memref<1x64xf32>
// CHECK-NEXT: %q1 = launch.view %q offset 64 covers [2] : memref<2x64xf32> -> memref<1x64xf32>
// CHECK-NEXT: %y = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.attention(q = %q0 : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %v : memref<8x64xf32>, position = %pos : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776692 : f32, gate_act = #launch<act sigmoid>, gate_offset = 0 : i64, row = 0 : i64} covers [1, 4]
// CHECK-NEXT: launch.attention(q = %q1 : memref<1x64xf32>, keys = %l : memref<8x64xf32>, values = %w : memref<8x64xf32>, position = %p : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776692 : f32, gate_act = #launch<act sigmoid>, gate_offset = 64 : i64, row = 1 : i64} covers [3, 5, 6, 7]
// CHECK-NEXT: func.return %y : memref<2x64xf32>
// CHECK-NEXT: }
func.func @batch(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %l: tensor<8x64xf32>, %w: tensor<8x64xf32>, %p: tensor<1xi32>) -> (tensor<2x64xf32>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k, %v at %pos heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %l, %w at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t0 = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %t1 = tgraph.set_row %t0, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %t1, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// -----

// Where it is read quantized, each attention quantizes its row, and nothing holds the f32 rows.

// CHECK-LABEL: func.func @batch_quantized(
// CHECK: %z = launch.alloc : !tgraph.q8<2x64>
// CHECK-NEXT: launch.attention({{.*}}gate = %g : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {{.*}}gate_offset = 0 : i64, row = 0 : i64} covers [1, 4]
// CHECK-NEXT: launch.attention({{.*}}gate = %g : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {{.*}}gate_offset = 64 : i64, row = 1 : i64} covers [3, 5, 6, 7, 8]
// CHECK-NEXT: func.return %z : !tgraph.q8<2x64>
func.func @batch_quantized(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<2x64xf32>, %g: tensor<2x64xf32>, %k: tensor<8x64xf32>, %v: tensor<8x64xf32>, %l: tensor<8x64xf32>, %w: tensor<8x64xf32>, %p: tensor<1xi32>) -> (!tgraph.q8<2x64>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k, %v at %pos heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %l, %w at %p heads 2 kv_heads 2 head_dim 32 value_dim 32 : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t0 = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %t1 = tgraph.set_row %t0, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %s = tgraph.sigmoid %g : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = tgraph.elementwise mul %t1, %s : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %y : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z : !tgraph.q8<2x64>
}
