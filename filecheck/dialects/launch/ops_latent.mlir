// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

// A wide chunk's latent attention.

// CHECK-LABEL: func.func @latent_keys(
// CHECK-NEXT: launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32>, position = %p : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
// CHECK-NEXT: func.return
func.func @latent_keys(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 256x32>, %p: memref<1xi32>, %k: memref<256x256xf32>) {
  launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32>,
  position = %p : memref<1xi32>, out = %k : memref<256x256xf32>)
  {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
  func.return
}

// CHECK-LABEL: func.func @latent_values(
// CHECK-NEXT: launch.latent_values(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>, position = %p : memref<1xi32>, out = %v : memref<256x128xf32>) {heads = 4 : i64, latent = 32 : i64, width = 32 : i64, rows = 128 : i64} covers [8]
// CHECK-NEXT: func.return
func.func @latent_values(%t: memref<256x96xf32>, %w: !tgraph.rows<q8_0, 128x32, transposed>, %p: memref<1xi32>, %v: memref<256x128xf32>) {
  launch.latent_values(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>,
  position = %p : memref<1xi32>, out = %v : memref<256x128xf32>)
  {heads = 4 : i64, latent = 32 : i64, width = 32 : i64, rows = 128 : i64} covers [8]
  func.return
}

// CHECK-LABEL: func.func @latent_attend(
// CHECK-NEXT: launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 0 : i64, scale = 0.102062099 : f32} covers [3, 4, 6, 7, 9]
// CHECK-NEXT: func.return
func.func @latent_attend(%q: memref<128x384xf32>, %r: memref<128x128xf32>, %k: memref<256x256xf32>, %v: memref<256x128xf32>, %t: memref<256x64xf32>, %p: memref<1xi32>, %o: memref<128x128xf32>) {
  launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>,
  keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>,
  table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>)
  {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64,
  q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
  func.return
}
