// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// The ops of integer networks, at the ends of what they take.

// CHECK-LABEL: func.func @int_requant(
// GENERIC-LABEL: sym_name = "int_requant"
func.func @int_requant(%x: tensor<2x64xi32>) {
  // CHECK-NEXT: %y0 = tgraph.int_requant %x multiplier 1518500250 shift 40 zero_point -3 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC: %y0 = "tgraph.int_requant"(%x) <{multiplier = 1518500250 : i64, shift = 40 : i64, zero_point = -3 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y0 = tgraph.int_requant %x multiplier 1518500250 shift 40 zero_point -3 : tensor<2x64xi32> -> tensor<2x64xi32>
  // CHECK-NEXT: %y1 = tgraph.int_requant %x multiplier 1 shift 0 zero_point -2147483648 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC-NEXT: %y1 = "tgraph.int_requant"(%x) <{multiplier = 1 : i64, shift = 0 : i64, zero_point = -2147483648 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y1 = tgraph.int_requant %x multiplier 1 shift 0 zero_point -2147483648 : tensor<2x64xi32> -> tensor<2x64xi32>
  // CHECK-NEXT: %y2 = tgraph.int_requant %x multiplier 2147483647 shift 62 zero_point 2147483647 number 2 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC-NEXT: %y2 = "tgraph.int_requant"(%x) <{multiplier = 2147483647 : i64, shift = 62 : i64, zero_point = 2147483647 : i64, number = 2 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y2 = tgraph.int_requant %x multiplier 2147483647 shift 62 zero_point 2147483647 number 2 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}

// CHECK-LABEL: func.func @int_clamp(
// GENERIC-LABEL: sym_name = "int_clamp"
func.func @int_clamp(%x: tensor<2x64xi32>) {
  // CHECK-NEXT: %y0 = tgraph.int_clamp %x low -128 high 127 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC: %y0 = "tgraph.int_clamp"(%x) <{low = -128 : i64, high = 127 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y0 = tgraph.int_clamp %x low -128 high 127 : tensor<2x64xi32> -> tensor<2x64xi32>
  // CHECK-NEXT: %y1 = tgraph.int_clamp %x low -2147483648 high 2147483647 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC-NEXT: %y1 = "tgraph.int_clamp"(%x) <{low = -2147483648 : i64, high = 2147483647 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y1 = tgraph.int_clamp %x low -2147483648 high 2147483647 : tensor<2x64xi32> -> tensor<2x64xi32>
  // CHECK-NEXT: %y2 = tgraph.int_clamp %x low 7 high 7 number 3 : tensor<2x64xi32> -> tensor<2x64xi32>
  // GENERIC-NEXT: %y2 = "tgraph.int_clamp"(%x) <{low = 7 : i64, high = 7 : i64, number = 3 : i64}> : (tensor<2x64xi32>) -> tensor<2x64xi32>
  %y2 = tgraph.int_clamp %x low 7 high 7 number 3 : tensor<2x64xi32> -> tensor<2x64xi32>
  func.return
}
