// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Value-by-value ops.

// CHECK-LABEL: func.func @elementwise(
// GENERIC-LABEL: sym_name = "elementwise"
func.func @elementwise(%a: tensor<2x64xf32>, %row: tensor<1x64xf32>, %col: tensor<2x1xf32>) {
  // CHECK-NEXT: %y0 = tgraph.elementwise add %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.elementwise"(%a, %a) <{kind = #tgraph<binary_kind add>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y0 = tgraph.elementwise add %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.elementwise sub %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.elementwise"(%a, %a) <{kind = #tgraph<binary_kind sub>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.elementwise sub %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y2 = tgraph.elementwise mul %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y2 = "tgraph.elementwise"(%a, %a) <{kind = #tgraph<binary_kind mul>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y2 = tgraph.elementwise mul %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y3 = tgraph.elementwise div %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y3 = "tgraph.elementwise"(%a, %a) <{kind = #tgraph<binary_kind div>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y3 = tgraph.elementwise div %a, %a : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // One row for every row of a, and one column along it.
  // CHECK-NEXT: %r = tgraph.elementwise add %a, %row number 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %r = "tgraph.elementwise"(%a, %row) <{kind = #tgraph<binary_kind add>, number = 1 : i64}> : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %r = tgraph.elementwise add %a, %row number 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %c = tgraph.elementwise mul %a, %col : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %c = "tgraph.elementwise"(%a, %col) <{kind = #tgraph<binary_kind mul>}> : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32>
  %c = tgraph.elementwise mul %a, %col : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32>
  func.return
}

// CHECK-LABEL: func.func @activations(
// GENERIC-LABEL: sym_name = "activations"
func.func @activations(%x: tensor<2x64xf32>, %u: tensor<2x64xf32>) {
  // CHECK-NEXT: %y0 = tgraph.swiglu %x, %u : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.swiglu"(%x, %u) : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y0 = tgraph.swiglu %x, %u : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.swiglu %x, %u number 2 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.swiglu"(%x, %u) <{number = 2 : i64}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.swiglu %x, %u number 2 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y2 = tgraph.silu %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y2 = "tgraph.silu"(%x) : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y2 = tgraph.silu %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y3 = tgraph.silu %x number 5 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y3 = "tgraph.silu"(%x) <{number = 5 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y3 = tgraph.silu %x number 5 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y4 = tgraph.sigmoid %x number 6 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y4 = "tgraph.sigmoid"(%x) <{number = 6 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y4 = tgraph.sigmoid %x number 6 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y5 = tgraph.gelu exact %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y5 = "tgraph.gelu"(%x) <{kind = #tgraph<gelu_kind exact>}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y5 = tgraph.gelu exact %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y7 = tgraph.relu %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y7 = "tgraph.relu"(%x) : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y7 = tgraph.relu %x : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y8 = tgraph.softcap %x at 3.000000e+01 number 9 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y8 = "tgraph.softcap"(%x) <{cap = 3.000000e+01 : f32, number = 9 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y8 = tgraph.softcap %x at 3.000000e+01 number 9 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y6 = tgraph.gelu tanh %x number 7 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y6 = "tgraph.gelu"(%x) <{kind = #tgraph<gelu_kind tanh>, number = 7 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y6 = tgraph.gelu tanh %x number 7 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// CHECK-LABEL: func.func @scale(
// GENERIC-LABEL: sym_name = "scale"
func.func @scale(%x: tensor<2x64xf32>) {
  // CHECK-NEXT: %y0 = tgraph.scale %x by 8.000000e+00 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.scale"(%x) <{factor = 8.000000e+00 : f32}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y0 = tgraph.scale %x by 8.000000e+00 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.scale %x by -1.000000e+00 number 8 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y1 = "tgraph.scale"(%x) <{factor = -1.000000e+00 : f32, number = 8 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y1 = tgraph.scale %x by -1.000000e+00 number 8 : tensor<2x64xf32> -> tensor<2x64xf32>
  // Nine digits, and the bits of a whole number past six digits, which has no short decimal form.
  // CHECK-NEXT: %y2 = tgraph.scale %x by 0.100000009 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y2 = "tgraph.scale"(%x) <{factor = 0.100000009 : f32}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y2 = tgraph.scale %x by 0.100000009 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y3 = tgraph.scale %x by 0x4CEB79A3 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y3 = "tgraph.scale"(%x) <{factor = 0x4CEB79A3 : f32}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y3 = tgraph.scale %x by 0x4CEB79A3 : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %y7 = tgraph.scale %x by -0.000000e+00 : tensor<2x64xf32> -> tensor<2x64xf32>
  // GENERIC-NEXT: %y7 = "tgraph.scale"(%x) <{factor = -0.000000e+00 : f32}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %y7 = tgraph.scale %x by -0.000000e+00 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}
