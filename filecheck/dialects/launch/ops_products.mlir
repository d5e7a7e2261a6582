// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Products by constant matrices: one, several of one activation, a gated pair.

// CHECK-LABEL: func.func @gemv(
// GENERIC-LABEL: sym_name = "gemv"
func.func @gemv(%x: memref<2x64xf32>, %q: !tgraph.q8<2x64>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: !tgraph.rows<q8_0, 32x64, transposed>, %b: memref<1x32xf32>, %y: memref<2x32xf32>, %t: memref<8x32xf32>, %p: memref<1xi32>, %z: !tgraph.q8<2x32>) {
  // CHECK-NEXT: launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<2x32xf32>) covers [2]
  // GENERIC: "launch.gemv"(%x, %w, %y) <{covers = array<i64: 2>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (memref<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>, memref<2x32xf32>) -> ()
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<2x32xf32>) covers [2]
  // Its row goes to a table, at an index on the device or a fixed row.
  // CHECK-NEXT: launch.gemv(x = %q : !tgraph.q8<2x64>, w = %v : !tgraph.rows<q8_0, 32x64, transposed>, bias = %b : memref<1x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [2, 3, 9]
  // GENERIC-NEXT: "launch.gemv"(%q, %v, %b, %t, %p) <{covers = array<i64: 2, 3, 9>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}> : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>, memref<1x32xf32>, memref<8x32xf32>, memref<1xi32>) -> ()
  launch.gemv(x = %q : !tgraph.q8<2x64>, w = %v : !tgraph.rows<q8_0, 32x64, transposed>, bias = %b : memref<1x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [2, 3, 9]
  // CHECK-NEXT: launch.gemv(x = %q : !tgraph.q8<2x64>, w = %v : !tgraph.rows<q8_0, 32x64, transposed>, out = %t : memref<8x32xf32>) {row = 6 : i64} covers [2, 9]
  // GENERIC-NEXT: "launch.gemv"(%q, %v, %t) <{row = 6 : i64, covers = array<i64: 2, 9>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>, memref<8x32xf32>) -> ()
  launch.gemv(x = %q : !tgraph.q8<2x64>, w = %v : !tgraph.rows<q8_0, 32x64, transposed>, out = %t : memref<8x32xf32>) {row = 6 : i64} covers [2, 9]
  // Quantized beside f32, and instead of it.
  // CHECK-NEXT: launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<2x32xf32>, quant = %z : !tgraph.q8<2x32>) covers [2, 3]
  // GENERIC-NEXT: "launch.gemv"(%x, %w, %y, %z) <{covers = array<i64: 2, 3>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1>}> : (memref<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>, memref<2x32xf32>, !tgraph.q8<2x32>) -> ()
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %y : memref<2x32xf32>, quant = %z : !tgraph.q8<2x32>) covers [2, 3]
  // CHECK-NEXT: launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, quant = %z : !tgraph.q8<2x32>) covers [2, 3]
  // GENERIC-NEXT: "launch.gemv"(%x, %w, %z) <{covers = array<i64: 2, 3>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>}> : (memref<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>, !tgraph.q8<2x32>) -> ()
  launch.gemv(x = %x : memref<2x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, quant = %z : !tgraph.q8<2x32>) covers [2, 3]
  func.return
}

// CHECK-LABEL: func.func @gemv_f32(
// GENERIC-LABEL: sym_name = "gemv_f32"
func.func @gemv_f32(%x: memref<1x64xf32>, %w: memref<64x32xf32>, %b: memref<32xf32>, %y: memref<1x32xf32>, %t: memref<8x32xf32>, %p: memref<1xi32>) {
  // CHECK-NEXT: launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %y : memref<1x32xf32>) covers [0]
  // GENERIC: "launch.gemv_f32"(%x, %w, %y) <{covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> : (memref<1x64xf32>, memref<64x32xf32>, memref<1x32xf32>) -> ()
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, out = %y : memref<1x32xf32>) covers [0]
  // CHECK-NEXT: launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, bias = %b : memref<32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0, 1]
  // GENERIC-NEXT: "launch.gemv_f32"(%x, %w, %b, %t, %p) <{covers = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (memref<1x64xf32>, memref<64x32xf32>, memref<32xf32>, memref<8x32xf32>, memref<1xi32>) -> ()
  launch.gemv_f32(x = %x : memref<1x64xf32>, w = %w : memref<64x32xf32>, bias = %b : memref<32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0, 1]
  func.return
}

// CHECK-LABEL: func.func @gemm_parts(
// GENERIC-LABEL: sym_name = "gemm_parts"
func.func @gemm_parts(%x: !tgraph.q8<1x64, two_plane>, %w: !tgraph.rows<q8_0, 32x64, transposed>, %v: !tgraph.rows<q8_0, 64x64, transposed>, %b: memref<64xf32>, %y: memref<1x32xf32>, %t: memref<8x64xf32>, %p: memref<1xi32>) {
  // CHECK-NEXT: launch.gemm_parts(x = %x : !tgraph.q8<1x64, two_plane>) {
  // GENERIC: "launch.gemm_parts"(%x) ({
  launch.gemm_parts(x = %x : !tgraph.q8<1x64, two_plane>) {
    // CHECK-NEXT: launch.gemm_part(w = %w : !tgraph.rows<q8_0, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [2]
    // GENERIC: "launch.gemm_part"(%w, %y) <{covers = array<i64: 2>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (!tgraph.rows<q8_0, 32x64, transposed>, memref<1x32xf32>) -> ()
    launch.gemm_part(w = %w : !tgraph.rows<q8_0, 32x64, transposed>, out = %y : memref<1x32xf32>) covers [2]
    // CHECK-NEXT: launch.gemm_part(w = %v : !tgraph.rows<q8_0, 64x64, transposed>, bias = %b : memref<64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [3, 4, 5]
    // GENERIC: "launch.gemm_part"(%v, %b, %t, %p) <{covers = array<i64: 3, 4, 5>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (!tgraph.rows<q8_0, 64x64, transposed>, memref<64xf32>, memref<8x64xf32>, memref<1xi32>) -> ()
    launch.gemm_part(w = %v : !tgraph.rows<q8_0, 64x64, transposed>, bias = %b : memref<64xf32>, out = %t : memref<8x64xf32>, at = %p : memref<1xi32>) covers [3, 4, 5]
    // CHECK-NEXT: launch.gemm_part(w = %v : !tgraph.rows<q8_0, 64x64, transposed>, out = %t : memref<8x64xf32>) {row = 7 : i64} covers [6, 7]
    // GENERIC: "launch.gemm_part"(%v, %t) <{row = 7 : i64, covers = array<i64: 6, 7>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (!tgraph.rows<q8_0, 64x64, transposed>, memref<8x64xf32>) -> ()
    launch.gemm_part(w = %v : !tgraph.rows<q8_0, 64x64, transposed>, out = %t : memref<8x64xf32>) {row = 7 : i64} covers [6, 7]
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: func.func @gemv_glu(
// GENERIC-LABEL: sym_name = "gemv_glu"
func.func @gemv_glu(%x: memref<2x64xf32>, %w: !tgraph.rows<f16, 32x64, transposed>, %v: !tgraph.rows<f16, 32x64, transposed>, %b: memref<32xf32>, %c: memref<1x32xf32>, %y: memref<2x32xf32>, %z: !tgraph.q8<2x32>) {
  // CHECK-NEXT: launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %w : !tgraph.rows<f16, 32x64, transposed>, wu = %v : !tgraph.rows<f16, 32x64, transposed>, out = %y : memref<2x32xf32>) {act = #launch<act silu>} covers [0, 1, 2]
  // GENERIC: "launch.gemv_glu"(%x, %w, %v, %y) <{act = #launch<act silu>, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0>}> : (memref<2x64xf32>, !tgraph.rows<f16, 32x64, transposed>, !tgraph.rows<f16, 32x64, transposed>, memref<2x32xf32>) -> ()
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %w : !tgraph.rows<f16, 32x64, transposed>, wu = %v : !tgraph.rows<f16, 32x64, transposed>, out = %y : memref<2x32xf32>) {act = #launch<act silu>} covers [0, 1, 2]
  // CHECK-NEXT: launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %w : !tgraph.rows<f16, 32x64, transposed>, wu = %v : !tgraph.rows<f16, 32x64, transposed>, bg = %b : memref<32xf32>, bu = %c : memref<1x32xf32>, out = %y : memref<2x32xf32>, quant = %z : !tgraph.q8<2x32>) {act = #launch<act gelu_tanh>} covers [0, 1, 2, 3, 4, 5]
  // GENERIC-NEXT: "launch.gemv_glu"(%x, %w, %v, %b, %c, %y, %z) <{act = #launch<act gelu_tanh>, covers = array<i64: 0, 1, 2, 3, 4, 5>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}> : (memref<2x64xf32>, !tgraph.rows<f16, 32x64, transposed>, !tgraph.rows<f16, 32x64, transposed>, memref<32xf32>, memref<1x32xf32>, memref<2x32xf32>, !tgraph.q8<2x32>) -> ()
  launch.gemv_glu(x = %x : memref<2x64xf32>, wg = %w : !tgraph.rows<f16, 32x64, transposed>, wu = %v : !tgraph.rows<f16, 32x64, transposed>, bg = %b : memref<32xf32>, bu = %c : memref<1x32xf32>, out = %y : memref<2x32xf32>, quant = %z : !tgraph.q8<2x32>) {act = #launch<act gelu_tanh>} covers [0, 1, 2, 3, 4, 5]
  func.return
}
