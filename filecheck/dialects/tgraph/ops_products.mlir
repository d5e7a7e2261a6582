// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Products and the quantizing of their activations.

// CHECK-LABEL: func.func @matmul(
// GENERIC-LABEL: sym_name = "matmul"
func.func @matmul(%x: tensor<2x64xf32>, %q: !tgraph.q8<2x64>, %t: !tgraph.q8<2x64, two_plane>, %w: !tgraph.rows<bf16, 32x64, transposed>, %k: !tgraph.rows<f16, 64x32>, %b: !tgraph.rows<q8_0, 32x64, transposed>, %v: tensor<64x32xf32>) {
  // Rows that are outputs, and rows that are inputs.
  // CHECK-NEXT: %y0 = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  // GENERIC: %y0 = "tgraph.matmul"(%x, %w) : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  %y0 = tgraph.matmul %x, %w : (tensor<2x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<2x32xf32>
  // CHECK-NEXT: %y1 = tgraph.matmul %x, %k number 4 : (tensor<2x64xf32>, !tgraph.rows<f16, 64x32>) -> tensor<2x32xf32>
  // GENERIC-NEXT: %y1 = "tgraph.matmul"(%x, %k) <{number = 4 : i64}> : (tensor<2x64xf32>, !tgraph.rows<f16, 64x32>) -> tensor<2x32xf32>
  %y1 = tgraph.matmul %x, %k number 4 : (tensor<2x64xf32>, !tgraph.rows<f16, 64x32>) -> tensor<2x32xf32>
  // CHECK-NEXT: %y2 = tgraph.matmul %x, %b : (tensor<2x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  // GENERIC-NEXT: %y2 = "tgraph.matmul"(%x, %b) : (tensor<2x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  %y2 = tgraph.matmul %x, %b : (tensor<2x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  // CHECK-NEXT: %y3 = tgraph.matmul %x, %v : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
  // GENERIC-NEXT: %y3 = "tgraph.matmul"(%x, %v) : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
  %y3 = tgraph.matmul %x, %v : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
  // Quantized activations, in one plane and two.
  // CHECK-NEXT: %y4 = tgraph.matmul %q, %b : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  // GENERIC-NEXT: %y4 = "tgraph.matmul"(%q, %b) : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  %y4 = tgraph.matmul %q, %b : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  // CHECK-NEXT: %y5 = tgraph.matmul %t, %b number 9 {note = "kept"} : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  // GENERIC-NEXT: %y5 = "tgraph.matmul"(%t, %b) <{number = 9 : i64}> {note = "kept"} : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  %y5 = tgraph.matmul %t, %b number 9 {note = "kept"} : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
  func.return
}

// CHECK-LABEL: func.func @quantize(
// GENERIC-LABEL: sym_name = "quantize"
func.func @quantize(%x: tensor<2x64xf32>) {
  // CHECK-NEXT: %q = tgraph.quantize %x : tensor<2x64xf32> -> !tgraph.q8<2x64>
  // GENERIC: %q = "tgraph.quantize"(%x) : (tensor<2x64xf32>) -> !tgraph.q8<2x64>
  %q = tgraph.quantize %x : tensor<2x64xf32> -> !tgraph.q8<2x64>
  // CHECK-NEXT: %t = tgraph.quantize %x number 3 : tensor<2x64xf32> -> !tgraph.q8<2x64, two_plane>
  // GENERIC-NEXT: %t = "tgraph.quantize"(%x) <{number = 3 : i64}> : (tensor<2x64xf32>) -> !tgraph.q8<2x64, two_plane>
  %t = tgraph.quantize %x number 3 : tensor<2x64xf32> -> !tgraph.q8<2x64, two_plane>
  func.return
}
