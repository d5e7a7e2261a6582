// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "binary_of_a_vector"
// CHECK: | Operation does not verify: launch.binary a: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @binary_of_a_vector(%a: memref<64xf32>, %b: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.binary(a = %a : memref<64xf32>, b = %b : memref<2x64xf32>, out = %out : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "binary_by_a_vector"
// CHECK: | Operation does not verify: launch.binary b: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @binary_by_a_vector(%a: memref<2x64xf32>, %b: memref<64xf32>, %out: memref<2x64xf32>) {
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<64xf32>, out = %out : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "binary_by_another_shape"
// CHECK: | Operation does not verify: launch.binary b: expected 2x64, 1x64 or 2x1, got 1x1
func.func @binary_by_another_shape(%a: memref<2x64xf32>, %b: memref<1x1xf32>, %out: memref<2x64xf32>) {
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<1x1xf32>, out = %out : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "binary_without_a_result"
// CHECK: | Operation does not verify: launch.binary: expected out, quant or both, got neither
func.func @binary_without_a_result(%a: memref<2x64xf32>, %b: memref<2x64xf32>) {
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "binary_out_of_another_shape"
// CHECK: | Operation does not verify: launch.binary out: expected (2, 64), got (1, 64)
func.func @binary_out_of_another_shape(%a: memref<2x64xf32>, %b: memref<2x64xf32>, %out: memref<1x64xf32>) {
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %out : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "binary_quant_of_another_shape"
// CHECK: | Operation does not verify: launch.binary quant: expected (2, 64), got (2, 32)
func.func @binary_quant_of_another_shape(%a: memref<2x64xf32>, %b: memref<2x64xf32>, %out: memref<2x64xf32>, %quant: !tgraph.q8<2x32>) {
  launch.binary(a = %a : memref<2x64xf32>, b = %b : memref<2x64xf32>, out = %out : memref<2x64xf32>, quant = %quant : !tgraph.q8<2x32>) {kind = #tgraph<binary_kind add>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "swiglu_of_a_vector"
// CHECK: | Operation does not verify: launch.swiglu gate: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @swiglu_of_a_vector(%gate: memref<64xf32>, %up: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.swiglu(gate = %gate : memref<64xf32>, up = %up : memref<2x64xf32>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "swiglu_of_two_shapes"
// CHECK: | Operation does not verify: launch.swiglu up: expected (2, 64), got (1, 64)
func.func @swiglu_of_two_shapes(%gate: memref<2x64xf32>, %up: memref<1x64xf32>, %out: memref<2x64xf32>) {
  launch.swiglu(gate = %gate : memref<2x64xf32>, up = %up : memref<1x64xf32>, out = %out : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "swiglu_without_a_result"
// CHECK: | Operation does not verify: launch.swiglu: expected out, quant or both, got neither
func.func @swiglu_without_a_result(%gate: memref<2x64xf32>, %up: memref<2x64xf32>) {
  launch.swiglu(gate = %gate : memref<2x64xf32>, up = %up : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "swiglu_out_of_another_shape"
// CHECK: | Operation does not verify: launch.swiglu out: expected (2, 64), got (2, 32)
func.func @swiglu_out_of_another_shape(%gate: memref<2x64xf32>, %up: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.swiglu(gate = %gate : memref<2x64xf32>, up = %up : memref<2x64xf32>, out = %out : memref<2x32xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "unary_of_another_shape"
// CHECK: | Operation does not verify: launch.unary out: expected (2, 64), got (1, 64)
func.func @unary_of_another_shape(%x: memref<2x64xf32>, %out: memref<1x64xf32>) {
  launch.unary(x = %x : memref<2x64xf32>, out = %out : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "unary_of_indices"
// CHECK: | Operation does not verify: launch.unary x: expected a static memref<RxWxf32>, got memref<2xi32>
func.func @unary_of_indices(%x: memref<2xi32>, %out: memref<1x64xf32>) {
  launch.unary(x = %x : memref<2xi32>, out = %out : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "scale_of_another_shape"
// CHECK: | Operation does not verify: launch.scale out: expected (2, 64), got (2, 32)
func.func @scale_of_another_shape(%x: memref<2x64xf32>, %out: memref<2x32xf32>) {
  launch.scale(x = %x : memref<2x64xf32>, out = %out : memref<2x32xf32>) {factor = 1.0 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "scale_by_an_f64"
// CHECK: | Operation does not verify: f64 should be of base attribute f32
func.func @scale_by_an_f64(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.scale(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {factor = 1.0 : f64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "quant_of_a_vector"
// CHECK: | Operation does not verify: launch.quant x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @quant_of_a_vector(%x: memref<64xf32>, %quant: !tgraph.q8<1x64>) {
  launch.quant(x = %x : memref<64xf32>, quant = %quant : !tgraph.q8<1x64>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "quant_of_another_shape"
// CHECK: | Operation does not verify: launch.quant quant: expected (2, 64), got (1, 64)
func.func @quant_of_another_shape(%x: memref<2x64xf32>, %quant: !tgraph.q8<1x64>) {
  launch.quant(x = %x : memref<2x64xf32>, quant = %quant : !tgraph.q8<1x64>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "quant_into_f32"
// CHECK: | Operation does not verify: operand 'quant' at position 1 does not verify:
func.func @quant_into_f32(%x: memref<2x64xf32>, %quant: memref<2x64xf32>) {
  launch.quant(x = %x : memref<2x64xf32>, quant = %quant : memref<2x64xf32>) covers [0]
  func.return
}

// -----

// CHECK: sym_name = "scale_by_no_number"
// CHECK: | Operation does not verify: launch.scale factor: expected a finite number, got inf
func.func @scale_by_no_number(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.scale(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {factor = 0x7f800000 : f32} covers [0]
  func.return
}
