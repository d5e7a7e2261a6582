// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Rows of tables, slices of heads, the choice and the advance.

// CHECK-LABEL: func.func @gather(
// GENERIC-LABEL: sym_name = "gather"
func.func @gather(%e: !tgraph.rows<q8_0, 16x64>, %f: memref<16x64xf32>, %i: memref<2xi32>, %y: memref<2x64xf32>) {
  // CHECK-NEXT: launch.gather(table = %e : !tgraph.rows<q8_0, 16x64>, index = %i : memref<2xi32>, out = %y : memref<2x64xf32>) covers [0]
  // GENERIC: "launch.gather"(%e, %i, %y) <{covers = array<i64: 0>}> : (!tgraph.rows<q8_0, 16x64>, memref<2xi32>, memref<2x64xf32>) -> ()
  launch.gather(table = %e : !tgraph.rows<q8_0, 16x64>, index = %i : memref<2xi32>, out = %y : memref<2x64xf32>) covers [0]
  // CHECK-NEXT: launch.gather(table = %f : memref<16x64xf32>, index = %i : memref<2xi32>, out = %y : memref<2x64xf32>) {scale = 8.000000e+00 : f32} covers [0, 1]
  // GENERIC-NEXT: "launch.gather"(%f, %i, %y) <{scale = 8.000000e+00 : f32, covers = array<i64: 0, 1>}> : (memref<16x64xf32>, memref<2xi32>, memref<2x64xf32>) -> ()
  launch.gather(table = %f : memref<16x64xf32>, index = %i : memref<2xi32>, out = %y : memref<2x64xf32>) {scale = 8.000000e+00 : f32} covers [0, 1]
  func.return
}

// CHECK-LABEL: func.func @set_row(
// GENERIC-LABEL: sym_name = "set_row"
func.func @set_row(%r: memref<2x64xf32>, %t: memref<8x64xf32>, %p: memref<1xi32>) {
  // CHECK-NEXT: launch.set_row(source = %r : memref<2x64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
  // GENERIC: "launch.set_row"(%r, %t, %p) <{covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<8x64xf32>, memref<1xi32>) -> ()
  launch.set_row(source = %r : memref<2x64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
  // CHECK-NEXT: launch.set_row(source = %r : memref<2x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
  // GENERIC-NEXT: "launch.set_row"(%r, %t) <{row = 0 : i64, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<2x64xf32>, memref<8x64xf32>) -> ()
  launch.set_row(source = %r : memref<2x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @slice(
// GENERIC-LABEL: sym_name = "slice"
func.func @slice(%x: memref<2x64xf32>, %y: memref<2x32xf32>) {
  // CHECK-NEXT: launch.slice(x = %x : memref<2x64xf32>, out = %y : memref<2x32xf32>) {start = 16 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  // GENERIC: "launch.slice"(%x, %y) <{start = 16 : i64, width = 16 : i64, every = 32 : i64, covers = array<i64: 0>}> : (memref<2x64xf32>, memref<2x32xf32>) -> ()
  launch.slice(x = %x : memref<2x64xf32>, out = %y : memref<2x32xf32>) {start = 16 : i64, width = 16 : i64, every = 32 : i64} covers [0]
  func.return
}

// CHECK-LABEL: func.func @sampling(
// GENERIC-LABEL: sym_name = "sampling"
func.func @sampling(%x: memref<1x64xf32>, %z: memref<3x64xf32>, %t: memref<1xi32>, %p: memref<1xi32>, %n: memref<1xi32>, %m: memref<3xi32>) {
  // CHECK-NEXT: launch.arg_max(x = %z : memref<3x64xf32>, out = %m : memref<3xi32>) covers [0]
  // GENERIC: "launch.arg_max"(%z, %m) <{covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<3x64xf32>, memref<3xi32>) -> ()
  launch.arg_max(x = %z : memref<3x64xf32>, out = %m : memref<3xi32>) covers [0]
  // CHECK-NEXT: launch.arg_max(x = %x : memref<1x64xf32>, out = %n : memref<1xi32>, token = %t : memref<1xi32>, position = %p : memref<1xi32>) covers [0, 1]
  // GENERIC-NEXT: "launch.arg_max"(%x, %n, %t, %p) <{covers = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (memref<1x64xf32>, memref<1xi32>, memref<1xi32>, memref<1xi32>) -> ()
  launch.arg_max(x = %x : memref<1x64xf32>, out = %n : memref<1xi32>, token = %t : memref<1xi32>, position = %p : memref<1xi32>) covers [0, 1]
  // CHECK-NEXT: launch.advance(x = %p : memref<1xi32>, out = %n : memref<1xi32>) {by = 3 : i64} covers [1]
  // GENERIC-NEXT: "launch.advance"(%p, %n) <{by = 3 : i64, covers = array<i64: 1>}> : (memref<1xi32>, memref<1xi32>) -> ()
  launch.advance(x = %p : memref<1xi32>, out = %n : memref<1xi32>) {by = 3 : i64} covers [1]
  func.return
}

// Tables of f16: rows set, and what reads them.

// CHECK-LABEL: func.func @tables_of_f16(
func.func @tables_of_f16(%x: memref<1x64xf32>, %t: memref<32x64xf16>, %p: memref<1xi32>, %o: memref<1x64xf32>) {
  // CHECK-NEXT: launch.set_row(source = %x : memref<1x64xf32>, out = %t : memref<32x64xf16>, at = %p : memref<1xi32>) covers [0]
  launch.set_row(source = %x : memref<1x64xf32>, out = %t : memref<32x64xf16>, at = %p : memref<1xi32>) covers [0]
  // CHECK-NEXT: launch.attention(q = %x : memref<1x64xf32>, keys = %t : memref<32x64xf16>, values = %t : memref<32x64xf16>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>)
  launch.attention(q = %x : memref<1x64xf32>, keys = %t : memref<32x64xf16>, values = %t : memref<32x64xf16>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 4 : i64, kv_heads = 4 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [1]
  func.return
}
