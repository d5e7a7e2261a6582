// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

// Launches head by head.

// CHECK-LABEL: func.func @head_gemv(
// CHECK-NEXT: launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>, out = %y : memref<1x256xf32>) {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
// CHECK-NEXT: func.return
func.func @head_gemv(%x: memref<1x384xf32>, %w: !tgraph.rows<q8_0, 256x32, transposed>, %y: memref<1x256xf32>) {
  launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>,
  out = %y : memref<1x256xf32>)
  {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
  func.return
}

// CHECK-LABEL: func.func @join(
// CHECK-NEXT: launch.join(a = %a : memref<1x128xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x192xf32>) {heads = 4 : i64} covers [7]
// CHECK-NEXT: func.return
func.func @join(%a: memref<1x128xf32>, %b: memref<1x64xf32>, %y: memref<1x192xf32>) {
  launch.join(a = %a : memref<1x128xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x192xf32>)
  {heads = 4 : i64} covers [7]
  func.return
}
