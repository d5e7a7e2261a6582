// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// A wide chunk: the key half covers the absorption, the value half the values' slice, the attention the rest.

// CHECK-LABEL: func.func @wide(
// CHECK-SAME: launch.lifted = 6 : i64
// CHECK: %0 = launch.alloc : memref<64x64xf32>
// CHECK-NEXT: %1 = launch.alloc : memref<64x64xf32>
// CHECK-NEXT: %o = launch.alloc : memref<43x64xf32>
// CHECK-NEXT: launch.latent_keys(table = %t : memref<64x160xf32>, w = %kb : !tgraph.rows<bf16, 64x128>, position = %pos : memref<1xi32>, out = %0 : memref<64x64xf32>) {heads = 2 : i64, latent = 128 : i64, width = 32 : i64, rows = 43 : i64} covers [1]
// CHECK-NEXT: launch.latent_values(table = %t : memref<64x160xf32>, w = %vb : !tgraph.rows<bf16, 64x128, transposed>, position = %pos : memref<1xi32>, out = %1 : memref<64x64xf32>) {heads = 2 : i64, latent = 128 : i64, width = 32 : i64, rows = 43 : i64} covers [3]
// CHECK-NEXT: launch.latent_attend(q = %q : memref<43x128xf32>, q_rope = %e : memref<43x64xf32>, keys = %0 : memref<64x64xf32>, values = %1 : memref<64x64xf32>, table = %t : memref<64x160xf32>, position = %pos : memref<1xi32>, out = %o : memref<43x64xf32>) {heads = 2 : i64, latent = 128 : i64, nope = 32 : i64, rope = 32 : i64, value_dim = 32 : i64, q_pitch = 64 : i64, q_offset = 0 : i64, scale = 1.250000e-01 : f32} covers [0, 2, 4, 5]
// CHECK-NEXT: func.return %o : memref<43x64xf32>
// CHECK-NEXT: }
func.func @wide(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x128xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> (tensor<43x64xf32>) {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 64x128>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %n0 = tgraph.head_slice %q start 0 width 32 every 64 : tensor<43x128xf32> -> tensor<43x64xf32>
  %b = tgraph.head_matmul %n0, %kb heads 2 inputs 32 outputs 128 : (tensor<43x64xf32>, !tgraph.rows<bf16, 64x128>) -> tensor<43x256xf32>
  %j = tgraph.join %b, %e heads 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
  %lv = tgraph.head_slice %t start 0 width 128 every 160 : tensor<64x160xf32> -> tensor<64x128xf32>
  %a = tgraph.attention %j, %t, %lv at %pos heads 2 kv_heads 1 head_dim 160 value_dim 128 scale 0.125 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 128 outputs 32 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
  func.return %o : tensor<43x64xf32>
}

// -----

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: launch.lifted = 6 : i64
// CHECK: %b = launch.alloc : memref<42x256xf32>
// CHECK-NEXT: launch.head_gemv(x = %q : memref<42x128xf32>, w = %kb : !tgraph.rows<bf16, 64x128>, out = %b : memref<42x256xf32>) {heads = 2 : i64, inputs = 32 : i64, outputs = 128 : i64, x_pitch = 64 : i64, x_offset = 0 : i64} covers [0, 1]
// CHECK-NEXT: %j = launch.alloc : memref<42x320xf32>
// CHECK-NEXT: launch.join(a = %b : memref<42x256xf32>, b = %e : memref<42x64xf32>, out = %j : memref<42x320xf32>) {heads = 2 : i64} covers [2]
// CHECK-NEXT: %a = launch.alloc : memref<42x256xf32>
// CHECK-NEXT: launch.attention(q = %j : memref<42x320xf32>, keys = %t : memref<64x160xf32>, values = %t : memref<64x160xf32>, position = %pos : memref<1xi32>, out = %a : memref<42x256xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 160 : i64, value_dim = 128 : i64, scale = 1.250000e-01 : f32, v_pitch = 160 : i64, v_offset = 0 : i64} covers [3, 4]
// CHECK-NEXT: %o = launch.alloc : memref<42x64xf32>
// CHECK-NEXT: launch.head_gemv(x = %a : memref<42x256xf32>, w = %vb : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<42x64xf32>) {heads = 2 : i64, inputs = 128 : i64, outputs = 32 : i64} covers [5]
// CHECK-NEXT: func.return %o : memref<42x64xf32>
// CHECK-NEXT: }
func.func @narrow(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<42x128xf32>, %e: tensor<42x64xf32>, %t: tensor<64x160xf32>) -> (tensor<42x64xf32>) {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 64x128>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %n0 = tgraph.head_slice %q start 0 width 32 every 64 : tensor<42x128xf32> -> tensor<42x64xf32>
  %b = tgraph.head_matmul %n0, %kb heads 2 inputs 32 outputs 128 : (tensor<42x64xf32>, !tgraph.rows<bf16, 64x128>) -> tensor<42x256xf32>
  %j = tgraph.join %b, %e heads 2 : (tensor<42x256xf32>, tensor<42x64xf32>) -> tensor<42x320xf32>
  %lv = tgraph.head_slice %t start 0 width 128 every 160 : tensor<64x160xf32> -> tensor<64x128xf32>
  %a = tgraph.attention %j, %t, %lv at %pos heads 2 kv_heads 1 head_dim 160 value_dim 128 scale 0.125 : tensor<42x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<42x256xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 128 outputs 32 : (tensor<42x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<42x64xf32>
  func.return %o : tensor<42x64xf32>
}

// -----

// The unrotated part of each head comes by itself.

// CHECK-LABEL: func.func @wide_unrotated_alone(
// CHECK-SAME: launch.lifted = 5 : i64
// CHECK: launch.latent_keys({{.*}}) {heads = 2 : i64, latent = 128 : i64, width = 32 : i64, rows = 43 : i64} covers [0]
// CHECK-NEXT: launch.latent_values({{.*}}) {heads = 2 : i64, latent = 128 : i64, width = 32 : i64, rows = 43 : i64} covers [2]
// CHECK-NEXT: launch.latent_attend(q = %q : memref<43x64xf32>, q_rope = %e : memref<43x64xf32>, {{.*}}) {heads = 2 : i64, latent = 128 : i64, nope = 32 : i64, rope = 32 : i64, value_dim = 32 : i64, q_pitch = 32 : i64, q_offset = 0 : i64, scale = 1.250000e-01 : f32} covers [1, 3, 4]
func.func @wide_unrotated_alone(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %q: tensor<43x64xf32>, %e: tensor<43x64xf32>, %t: tensor<64x160xf32>) -> (tensor<43x64xf32>) {
  %kb = tgraph.constant #tgraph.checkpoint<"kb"> : !tgraph.rows<bf16, 64x128>
  %vb = tgraph.constant #tgraph.checkpoint<"vb"> : !tgraph.rows<bf16, 64x128, transposed>
  %b = tgraph.head_matmul %q, %kb heads 2 inputs 32 outputs 128 : (tensor<43x64xf32>, !tgraph.rows<bf16, 64x128>) -> tensor<43x256xf32>
  %j = tgraph.join %b, %e heads 2 : (tensor<43x256xf32>, tensor<43x64xf32>) -> tensor<43x320xf32>
  %lv = tgraph.head_slice %t start 0 width 128 every 160 : tensor<64x160xf32> -> tensor<64x128xf32>
  %a = tgraph.attention %j, %t, %lv at %pos heads 2 kv_heads 1 head_dim 160 value_dim 128 scale 0.125 : tensor<43x320xf32>, tensor<64x160xf32>, tensor<64x128xf32> -> tensor<43x256xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 128 outputs 32 : (tensor<43x256xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<43x64xf32>
  func.return %o : tensor<43x64xf32>
}
