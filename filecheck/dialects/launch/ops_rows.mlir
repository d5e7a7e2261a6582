// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Norms and rotations.

// CHECK-LABEL: func.func @norm(
// GENERIC-LABEL: sym_name = "norm"
func.func @norm(%x: memref<2x64xf32>, %r: memref<2x64xf32>, %s: memref<2x64xf32>, %w: memref<64xf32>, %h: memref<16xf32>, %y: memref<2x64xf32>, %z: !tgraph.q8<2x64>) {
  // CHECK-NEXT: launch.norm(x = %x : memref<2x64xf32>, w = %w : memref<64xf32>, out = %y : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  // GENERIC: "launch.norm"(%x, %w, %y) <{cols = 64 : i64, eps = 1.000000e-06 : f32, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1, 0, 0>}> : (memref<2x64xf32>, memref<64xf32>, memref<2x64xf32>) -> ()
  launch.norm(x = %x : memref<2x64xf32>, w = %w : memref<64xf32>, out = %y : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  // A head at a time, without a weight.
  // CHECK-NEXT: launch.norm(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {cols = 16 : i64, eps = 0.000000e+00 : f32} covers [0]
  // GENERIC-NEXT: "launch.norm"(%x, %y) <{cols = 16 : i64, eps = 0.000000e+00 : f32, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 1, 0, 0>}> : (memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.norm(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {cols = 16 : i64, eps = 0.000000e+00 : f32} covers [0]
  // The residual sum, stored; the result quantized.
  // CHECK-NEXT: launch.norm(x = %x : memref<2x64xf32>, add = %r : memref<2x64xf32>, sum = %s : memref<2x64xf32>, w = %w : memref<64xf32>, quant = %z : !tgraph.q8<2x64>) {cols = 64 : i64, eps = 1.000000e-05 : f32} covers [0, 1, 2]
  // GENERIC-NEXT: "launch.norm"(%x, %r, %s, %w, %z) <{cols = 64 : i64, eps = 1.000000e-05 : f32, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 0, 1, 1, 1, 0, 1, 0>}> : (memref<2x64xf32>, memref<2x64xf32>, memref<2x64xf32>, memref<64xf32>, !tgraph.q8<2x64>) -> ()
  launch.norm(x = %x : memref<2x64xf32>, add = %r : memref<2x64xf32>, sum = %s : memref<2x64xf32>, w = %w : memref<64xf32>, quant = %z : !tgraph.q8<2x64>) {cols = 64 : i64, eps = 1.000000e-05 : f32} covers [0, 1, 2]
  // A sandwich.
  // CHECK-NEXT: launch.norm(x = %x : memref<2x64xf32>, pre = %w : memref<64xf32>, add = %r : memref<2x64xf32>, sum = %s : memref<2x64xf32>, w = %w : memref<64xf32>, out = %y : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32, pre_eps = 1.000000e-05 : f32} covers [0, 1, 2]
  // GENERIC-NEXT: "launch.norm"(%x, %w, %r, %s, %w, %y) <{cols = 64 : i64, eps = 1.000000e-06 : f32, pre_eps = 1.000000e-05 : f32, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0>}> : (memref<2x64xf32>, memref<64xf32>, memref<2x64xf32>, memref<2x64xf32>, memref<64xf32>, memref<2x64xf32>) -> ()
  launch.norm(x = %x : memref<2x64xf32>, pre = %w : memref<64xf32>, add = %r : memref<2x64xf32>, sum = %s : memref<2x64xf32>, w = %w : memref<64xf32>, out = %y : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32, pre_eps = 1.000000e-05 : f32} covers [0, 1, 2]
  func.return
}

// CHECK-LABEL: func.func @rope(
// GENERIC-LABEL: sym_name = "rope"
func.func @rope(%x: memref<2x64xf32>, %n: memref<32xf32>, %c: memref<8x16xf32>, %s: memref<8x16xf32>, %c2: memref<2x8xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %t: memref<8x64xf32>) {
  // CHECK-NEXT: launch.rope(x = %x : memref<2x64xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  // GENERIC: "launch.rope"(%x, %c, %s, %p, %y) <{heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 1, 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>, memref<2x64xf32>) -> ()
  launch.rope(x = %x : memref<2x64xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  // Tables already cut to the rows; part of each head turns.
  // CHECK-NEXT: launch.rope(x = %x : memref<2x64xf32>, cos = %c2 : memref<2x8xf32>, sin = %c2 : memref<2x8xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 8 : i64} covers [0]
  // GENERIC-NEXT: "launch.rope"(%x, %c2, %c2, %y) <{heads = 2 : i64, head_dim = 32 : i64, half = 8 : i64, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 1, 0>}> : (memref<2x64xf32>, memref<2x8xf32>, memref<2x8xf32>, memref<2x64xf32>) -> ()
  launch.rope(x = %x : memref<2x64xf32>, cos = %c2 : memref<2x8xf32>, sin = %c2 : memref<2x8xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 8 : i64} covers [0]
  // After a norm of the heads, into a table.
  // CHECK-NEXT: launch.rope(x = %x : memref<2x64xf32>, norm = %n : memref<32xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [0, 1, 2]
  // GENERIC-NEXT: "launch.rope"(%x, %n, %c, %s, %p, %t, %p) <{heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}> : (memref<2x64xf32>, memref<32xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>, memref<8x64xf32>, memref<1xi32>) -> ()
  launch.rope(x = %x : memref<2x64xf32>, norm = %n : memref<32xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [0, 1, 2]
  // CHECK-NEXT: launch.rope(x = %x : memref<2x64xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %t : memref<8x64xf32>) {row = 6 : i64, heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [0, 1, 2]
  // GENERIC-NEXT: "launch.rope"(%x, %c, %s, %p, %t) <{row = 6 : i64, heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 0, 1, 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>, memref<8x64xf32>) -> ()
  launch.rope(x = %x : memref<2x64xf32>, cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>, out = %t : memref<8x64xf32>) {row = 6 : i64, heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [0, 1, 2]
  func.return
}

// CHECK-LABEL: func.func @rope_parts(
// GENERIC-LABEL: sym_name = "rope_parts"
func.func @rope_parts(%q: memref<2x64xf32>, %k: memref<2x32xf32>, %n: memref<32xf32>, %c: memref<8x16xf32>, %s: memref<8x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %t: memref<8x32xf32>) {
  // CHECK-NEXT: launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  // GENERIC: "launch.rope_parts"(%c, %s, %p) <{head_dim = 32 : i64, half = 16 : i64}> ({
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %s : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    // CHECK-NEXT: launch.rope_side(x = %q : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64} covers [0]
    // GENERIC: "launch.rope_side"(%q, %y) <{heads = 2 : i64, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (memref<2x64xf32>, memref<2x64xf32>) -> ()
    launch.rope_side(x = %q : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64} covers [0]
    // CHECK-NEXT: launch.rope_side(x = %k : memref<2x32xf32>, norm = %n : memref<32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) {norm_eps = 1.000000e-06 : f32, heads = 1 : i64} covers [1, 2, 3]
    // GENERIC: "launch.rope_side"(%k, %n, %t, %p) <{norm_eps = 1.000000e-06 : f32, heads = 1 : i64, covers = array<i64: 1, 2, 3>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (memref<2x32xf32>, memref<32xf32>, memref<8x32xf32>, memref<1xi32>) -> ()
    launch.rope_side(x = %k : memref<2x32xf32>, norm = %n : memref<32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) {norm_eps = 1.000000e-06 : f32, heads = 1 : i64} covers [1, 2, 3]
  // CHECK-NEXT: }
  }
  func.return
}
