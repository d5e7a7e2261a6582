// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Value by value, and quantizing.

// CHECK-LABEL: func.func @binary(
// GENERIC-LABEL: sym_name = "binary"
func.func @binary(%a: memref<2x64xf32>, %b: memref<2x64xf32>, %r: memref<1x64xf32>, %c: memref<2x1xf32>, %y: memref<2x64xf32>, %z: !tgraph.q8<2x64>) {
  // CHECK-NEXT: launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  // GENERIC: "launch.binary"(%a, %b, %y) <{kind = #tgraph<binary_kind add>, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  // b as one row, as one column; a ∘ act(b).
  // CHECK-NEXT: launch.binary(a = %a : memref<2x64xf32>, b = %r : memref<1x64xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind sub>} covers [0]
  // GENERIC-NEXT: "launch.binary"(%a, %r, %y) <{kind = #tgraph<binary_kind sub>, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<1x64xf32>, memref<2x64xf32>) -> ()
  launch.binary(a = %a : memref<2x64xf32>, b = %r : memref<1x64xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind sub>} covers [0]
  // CHECK-NEXT: launch.binary(a = %a : memref<2x64xf32>, b = %c : memref<2x1xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind div>} covers [0]
  // GENERIC-NEXT: "launch.binary"(%a, %c, %y) <{kind = #tgraph<binary_kind div>, covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<2x1xf32>, memref<2x64xf32>) -> ()
  launch.binary(a = %a : memref<2x64xf32>, b = %c : memref<2x1xf32>, out = %y : memref<2x64xf32>) {kind = #tgraph<binary_kind div>} covers [0]
  // CHECK-NEXT: launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {kind = #tgraph<binary_kind mul>, gate = #launch<act sigmoid>} covers [0, 1, 2]
  // GENERIC-NEXT: "launch.binary"(%a, %b, %y, %z) <{kind = #tgraph<binary_kind mul>, gate = #launch<act sigmoid>, covers = array<i64: 0, 1, 2>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (memref<2x64xf32>, memref<2x64xf32>, memref<2x64xf32>, !tgraph.q8<2x64>) -> ()
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {kind = #tgraph<binary_kind mul>, gate = #launch<act sigmoid>} covers [0, 1, 2]
  func.return
}

// CHECK-LABEL: func.func @swiglu(
// GENERIC-LABEL: sym_name = "swiglu"
func.func @swiglu(%a: memref<2x64xf32>, %b: memref<2x64xf32>, %y: memref<2x64xf32>, %z: !tgraph.q8<2x64>) {
  // CHECK-NEXT: launch.swiglu(gate = %a : memref<2x64xf32>, up = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>) covers [0]
  // GENERIC: "launch.swiglu"(%a, %b, %y) <{covers = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<2x64xf32>, memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.swiglu(gate = %a : memref<2x64xf32>, up = %b : memref<2x64xf32>, out = %y : memref<2x64xf32>) covers [0]
  // CHECK-NEXT: launch.swiglu(gate = %a : memref<2x64xf32>, up = %b : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) covers [0, 1]
  // GENERIC-NEXT: "launch.swiglu"(%a, %b, %z) <{covers = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (memref<2x64xf32>, memref<2x64xf32>, !tgraph.q8<2x64>) -> ()
  launch.swiglu(gate = %a : memref<2x64xf32>, up = %b : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) covers [0, 1]
  func.return
}

// CHECK-LABEL: func.func @unary(
// GENERIC-LABEL: sym_name = "unary"
func.func @unary(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  // CHECK-NEXT: launch.unary(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {act = #launch<act silu>} covers [0]
  // GENERIC: "launch.unary"(%x, %y) <{act = #launch<act silu>, covers = array<i64: 0>}> : (memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.unary(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {act = #launch<act silu>} covers [0]
  // CHECK-NEXT: launch.unary(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {act = #launch<act gelu>} covers [0]
  // GENERIC-NEXT: "launch.unary"(%x, %y) <{act = #launch<act gelu>, covers = array<i64: 0>}> : (memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.unary(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {act = #launch<act gelu>} covers [0]
  // CHECK-NEXT: launch.scale(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {factor = 11.3137083 : f32} covers [0]
  // GENERIC-NEXT: "launch.scale"(%x, %y) <{factor = 11.3137083 : f32, covers = array<i64: 0>}> : (memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.scale(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {factor = 11.3137083 : f32} covers [0]
  // Every bit of a factor is kept.
  // CHECK-NEXT: launch.scale(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {factor = 0.333333343 : f32, note = 0x7fc01234 : f32} covers [0]
  // GENERIC-NEXT: "launch.scale"(%x, %y) <{factor = 0.333333343 : f32, covers = array<i64: 0>}> {note = 0x7fc01234 : f32} : (memref<2x64xf32>, memref<2x64xf32>) -> ()
  launch.scale(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {factor = 0.333333343 : f32, note = 0x7fc01234 : f32} covers [0]
  func.return
}

// CHECK-LABEL: func.func @quant(
// GENERIC-LABEL: sym_name = "quant"
func.func @quant(%x: memref<2x64xf32>, %q: !tgraph.q8<2x64>, %r: !tgraph.q8<2x64, two_plane>) {
  // CHECK-NEXT: launch.quant(x = %x : memref<2x64xf32>, quant = %q : !tgraph.q8<2x64>) covers [0]
  // GENERIC: "launch.quant"(%x, %q) <{covers = array<i64: 0>}> : (memref<2x64xf32>, !tgraph.q8<2x64>) -> ()
  launch.quant(x = %x : memref<2x64xf32>, quant = %q : !tgraph.q8<2x64>) covers [0]
  // CHECK-NEXT: launch.quant(x = %x : memref<2x64xf32>, quant = %r : !tgraph.q8<2x64, two_plane>) covers [0]
  // GENERIC-NEXT: "launch.quant"(%x, %r) <{covers = array<i64: 0>}> : (memref<2x64xf32>, !tgraph.q8<2x64, two_plane>) -> ()
  launch.quant(x = %x : memref<2x64xf32>, quant = %r : !tgraph.q8<2x64, two_plane>) covers [0]
  func.return
}
