// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "elementwise_of_a_vector"
// CHECK: | Operation does not verify: elementwise a: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @elementwise_of_a_vector(%a: tensor<64xf32>, %b: tensor<2x64xf32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "elementwise_with_integers"
// CHECK: | Operation does not verify: elementwise b: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @elementwise_with_integers(%a: tensor<2x64xf32>, %b: tensor<2x64xi32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<2x64xf32>, tensor<2x64xi32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "elementwise_of_other_rows"
// CHECK: | Operation does not verify: elementwise b: expected 2x64, 1x64 or 2x1 beside a of 2x64, got 3x64
func.func @elementwise_of_other_rows(%a: tensor<2x64xf32>, %b: tensor<3x64xf32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<2x64xf32>, tensor<3x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "elementwise_of_one_value"
// CHECK: | Operation does not verify: elementwise b: expected 2x64, 1x64 or 2x1 beside a of 2x64, got 1x1
func.func @elementwise_of_one_value(%a: tensor<2x64xf32>, %b: tensor<1x1xf32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<2x64xf32>, tensor<1x1xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "elementwise_that_would_widen_a"
// CHECK: | Operation does not verify: elementwise b: expected 1x64, 1x64 or 1x1 beside a of 1x64, got 2x64
func.func @elementwise_that_would_widen_a(%a: tensor<1x64xf32>, %b: tensor<2x64xf32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<1x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "elementwise_to_another_shape"
// CHECK: | Operation does not verify: elementwise result: expected (2, 64), got (1, 64)
func.func @elementwise_to_another_shape(%a: tensor<2x64xf32>, %b: tensor<1x64xf32>) {
  %y = tgraph.elementwise add %a, %b : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: %y = tgraph.elementwise pow %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
// CHECK: Expected `add`, `sub`, `mul`, or `div`.
func.func @elementwise_by_another_word(%a: tensor<2x64xf32>) {
  %y = tgraph.elementwise pow %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "swiglu_of_a_vector"
// CHECK: | Operation does not verify: swiglu gate: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @swiglu_of_a_vector(%a: tensor<64xf32>, %b: tensor<2x64xf32>) {
  %y = tgraph.swiglu %a, %b : (tensor<64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "swiglu_of_other_rows"
// CHECK: | Operation does not verify: swiglu up: expected (2, 64), got (1, 64)
func.func @swiglu_of_other_rows(%a: tensor<2x64xf32>, %b: tensor<1x64xf32>) {
  %y = tgraph.swiglu %a, %b : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "swiglu_of_halves"
// CHECK: | Operation does not verify: swiglu up: expected a static tensor<RxWxf32>, got tensor<2x64xf16>
func.func @swiglu_of_halves(%a: tensor<2x64xf32>, %b: tensor<2x64xf16>) {
  %y = tgraph.swiglu %a, %b : (tensor<2x64xf32>, tensor<2x64xf16>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "swiglu_to_another_width"
// CHECK: | Operation does not verify: swiglu result: expected (2, 64), got (2, 32)
func.func @swiglu_to_another_width(%a: tensor<2x64xf32>, %b: tensor<2x64xf32>) {
  %y = tgraph.swiglu %a, %b : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "silu_of_a_vector"
// CHECK: | Operation does not verify: tgraph.silu x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @silu_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.silu %x : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "silu_to_another_shape"
// CHECK: | Operation does not verify: tgraph.silu result: expected (2, 64), got (2, 32)
func.func @silu_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.silu %x : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "silu_to_integers"
// CHECK: | Operation does not verify: tgraph.silu result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @silu_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.silu %x : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "sigmoid_of_a_vector"
// CHECK: | Operation does not verify: tgraph.sigmoid x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @sigmoid_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.sigmoid %x : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "sigmoid_to_another_shape"
// CHECK: | Operation does not verify: tgraph.sigmoid result: expected (2, 64), got (2, 32)
func.func @sigmoid_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.sigmoid %x : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "sigmoid_to_integers"
// CHECK: | Operation does not verify: tgraph.sigmoid result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @sigmoid_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.sigmoid %x : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "relu_of_a_vector"
// CHECK: | Operation does not verify: tgraph.relu x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @relu_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.relu %x : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "relu_to_another_shape"
// CHECK: | Operation does not verify: tgraph.relu result: expected (2, 64), got (2, 32)
func.func @relu_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.relu %x : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "relu_to_integers"
// CHECK: | Operation does not verify: tgraph.relu result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @relu_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.relu %x : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_of_a_vector"
// CHECK: | Operation does not verify: tgraph.softcap x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @softcap_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.softcap %x at 2.0 : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_to_another_shape"
// CHECK: | Operation does not verify: tgraph.softcap result: expected (2, 64), got (2, 32)
func.func @softcap_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.softcap %x at 2.0 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_to_integers"
// CHECK: | Operation does not verify: tgraph.softcap result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @softcap_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.softcap %x at 2.0 : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "gelu_of_a_vector"
// CHECK: | Operation does not verify: tgraph.gelu x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @gelu_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.gelu exact %x : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "gelu_to_another_shape"
// CHECK: | Operation does not verify: tgraph.gelu result: expected (2, 64), got (2, 32)
func.func @gelu_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.gelu exact %x : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "gelu_to_integers"
// CHECK: | Operation does not verify: tgraph.gelu result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @gelu_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.gelu exact %x : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "scale_of_a_vector"
// CHECK: | Operation does not verify: tgraph.scale x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @scale_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.scale %x by 2.0 : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "scale_to_another_shape"
// CHECK: | Operation does not verify: tgraph.scale result: expected (2, 64), got (2, 32)
func.func @scale_to_another_shape(%x: tensor<2x64xf32>) {
  %y = tgraph.scale %x by 2.0 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "scale_to_integers"
// CHECK: | Operation does not verify: tgraph.scale result: expected a static tensor<RxWxf32>, got tensor<2x64xi32>
func.func @scale_to_integers(%x: tensor<2x64xf32>) {
  %y = tgraph.scale %x by 2.0 : tensor<2x64xf32> -> tensor<2x64xi32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_of_zero"
// CHECK: | Operation does not verify: softcap at: expected a finite number of more than 0, got 0.0
func.func @softcap_of_zero(%x: tensor<2x64xf32>) {
  %y = tgraph.softcap %x at 0.0 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: %y = tgraph.gelu fast %x : tensor<2x64xf32> -> tensor<2x64xf32>
// CHECK: Expected `exact`, or `tanh`.
func.func @gelu_by_another_word(%x: tensor<2x64xf32>) {
  %y = tgraph.gelu fast %x : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "scale_by_a_double"
// CHECK: | Operation does not verify: f64 should be of base attribute f32
func.func @scale_by_a_double(%x: tensor<2x64xf32>) {
  %y = "tgraph.scale"(%x) <{factor = 2.0 : f64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "scale_by_infinity"
// CHECK: | Operation does not verify: scale by: expected a finite number, got -inf
func.func @scale_by_infinity(%x: tensor<2x64xf32>) {
  %y = tgraph.scale %x by 0xff800000 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "scale_by_nan"
// CHECK: | Operation does not verify: scale by: expected a finite number, got nan
func.func @scale_by_nan(%x: tensor<2x64xf32>) {
  %y = tgraph.scale %x by 0x7fc01234 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_at_infinity"
// CHECK: | Operation does not verify: softcap at: expected a finite number of more than 0, got inf
func.func @softcap_at_infinity(%x: tensor<2x64xf32>) {
  %y = tgraph.softcap %x at 0x7f800000 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "softcap_at_nan"
// CHECK: | Operation does not verify: softcap at: expected a finite number of more than 0, got nan
func.func @softcap_at_nan(%x: tensor<2x64xf32>) {
  %y = tgraph.softcap %x at 0x7fc00000 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "silu_of_a_negative_number"
// CHECK: | Operation does not verify: tgraph.silu number: expected at least 0, got -1
func.func @silu_of_a_negative_number(%x: tensor<2x64xf32>) {
  %y = tgraph.silu %x number -1 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}
