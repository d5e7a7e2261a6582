// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Launches run as one.

// CHECK-LABEL: func.func @fold(
// GENERIC-LABEL: sym_name = "fold"
func.func @fold(%e: !tgraph.rows<bf16, 16x64>, %i: memref<1xi32>, %x: memref<1x64xf32>, %w: memref<64xf32>, %h: memref<1x64xf32>, %m: !tgraph.rows<bf16, 64x64, transposed>, %r: memref<1x64xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>, %t: memref<8x64xf32>, %v: memref<8x64xf32>, %o: memref<1x64xf32>) {
  // CHECK-NEXT: launch.fold() {
  // GENERIC: "launch.fold"() ({
  launch.fold() {
    // CHECK-NEXT: launch.gather(table = %e : !tgraph.rows<bf16, 16x64>, index = %i : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    // GENERIC: "launch.gather"(%e, %i, %x) <{covers = array<i64: 0>}> : (!tgraph.rows<bf16, 16x64>, memref<1xi32>, memref<1x64xf32>) -> ()
    launch.gather(table = %e : !tgraph.rows<bf16, 16x64>, index = %i : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    // CHECK-NEXT: launch.norm(x = %x : memref<1x64xf32>, w = %w : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
    // GENERIC: "launch.norm"(%x, %w, %h) <{cols = 64 : i64, eps = 1.000000e-06 : f32, covers = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1, 0, 0>}> : (memref<1x64xf32>, memref<64xf32>, memref<1x64xf32>) -> ()
    launch.norm(x = %x : memref<1x64xf32>, w = %w : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: launch.fold() {
  // GENERIC: "launch.fold"() ({
  launch.fold() {
    // CHECK-NEXT: launch.gemv(x = %h : memref<1x64xf32>, w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %x : memref<1x64xf32>) covers [2]
    // GENERIC: "launch.gemv"(%h, %m, %x) <{covers = array<i64: 2>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (memref<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>, memref<1x64xf32>) -> ()
    launch.gemv(x = %h : memref<1x64xf32>, w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %x : memref<1x64xf32>) covers [2]
    // CHECK-NEXT: launch.norm(x = %x : memref<1x64xf32>, add = %r : memref<1x64xf32>, w = %w : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [3, 4]
    // GENERIC: "launch.norm"(%x, %r, %w, %y) <{cols = 64 : i64, eps = 1.000000e-06 : f32, covers = array<i64: 3, 4>, operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 1, 0, 0>}> : (memref<1x64xf32>, memref<1x64xf32>, memref<64xf32>, memref<1x64xf32>) -> ()
    launch.norm(x = %x : memref<1x64xf32>, add = %r : memref<1x64xf32>, w = %w : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [3, 4]
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: launch.fold() attributes {note = "kept"} {
  // GENERIC: "launch.fold"() ({
  launch.fold() attributes {note = "kept"} {
    // CHECK-NEXT: launch.gemm_parts(x = %y : memref<1x64xf32>) {
    // GENERIC: "launch.gemm_parts"(%y) ({
    launch.gemm_parts(x = %y : memref<1x64xf32>) {
      // CHECK-NEXT: launch.gemm_part(w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %x : memref<1x64xf32>) covers [5]
      // GENERIC: "launch.gemm_part"(%m, %x) <{covers = array<i64: 5>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (!tgraph.rows<bf16, 64x64, transposed>, memref<1x64xf32>) -> ()
      launch.gemm_part(w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %x : memref<1x64xf32>) covers [5]
      // CHECK-NEXT: launch.gemm_part(w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [6, 7]
      // GENERIC: "launch.gemm_part"(%m, %t, %p) <{covers = array<i64: 6, 7>, operandSegmentSizes = array<i32: 1, 0, 1, 1>}> : (!tgraph.rows<bf16, 64x64, transposed>, memref<8x64xf32>, memref<1xi32>) -> ()
      launch.gemm_part(w = %m : !tgraph.rows<bf16, 64x64, transposed>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [6, 7]
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    // GENERIC: "launch.rope_parts"(%c, %c, %p) <{head_dim = 32 : i64, half = 16 : i64}> ({
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      // CHECK-NEXT: launch.rope_side(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {heads = 2 : i64} covers [8]
      // GENERIC: "launch.rope_side"(%x, %h) <{heads = 2 : i64, covers = array<i64: 8>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (memref<1x64xf32>, memref<1x64xf32>) -> ()
      launch.rope_side(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {heads = 2 : i64} covers [8]
    // CHECK-NEXT: }
    }
  // CHECK-NEXT: }
  }
  // An attention after the rotation of its queries and keys.
  // CHECK-NEXT: launch.fold() {
  // GENERIC: "launch.fold"() ({
  launch.fold() {
    // CHECK-NEXT: launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    // GENERIC: "launch.rope_parts"(%c, %c, %p) <{head_dim = 32 : i64, half = 16 : i64}> ({
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      // CHECK-NEXT: launch.rope_side(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {heads = 2 : i64} covers [9]
      launch.rope_side(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {heads = 2 : i64} covers [9]
      // CHECK-NEXT: launch.rope_side(x = %y : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) {heads = 2 : i64} covers [10, 11]
      launch.rope_side(x = %y : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) {heads = 2 : i64} covers [10, 11]
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: launch.attention(q = %h : memref<1x64xf32>, keys = %t : memref<8x64xf32>, values = %v : memref<8x64xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {settled, {{.*}}} covers [12]
    // GENERIC: "launch.attention"(%h, %t, %v, %p, %o)
    launch.attention(q = %h : memref<1x64xf32>, keys = %t : memref<8x64xf32>, values = %v : memref<8x64xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {settled, heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.000000e+00 : f32} covers [12]
  // CHECK-NEXT: }
  }
  func.return
}
