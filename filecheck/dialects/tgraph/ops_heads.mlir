// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Two rows joined head by head, and one matrix a head.

// CHECK-LABEL: func.func @join(
// GENERIC-LABEL: sym_name = "join"
func.func @join(%a: tensor<2x64xf32>, %b: tensor<2x32xf32>) {
  // CHECK-NEXT: %y0 = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<2x32xf32>) -> tensor<2x96xf32>
  // GENERIC: %y0 = "tgraph.join"(%a, %b) <{heads = 4 : i64}> : (tensor<2x64xf32>, tensor<2x32xf32>) -> tensor<2x96xf32>
  %y0 = tgraph.join %a, %b heads 4 : (tensor<2x64xf32>, tensor<2x32xf32>) -> tensor<2x96xf32>
  // CHECK-NEXT: %y1 = tgraph.join %b, %a heads 1 number 6 : (tensor<2x32xf32>, tensor<2x64xf32>) -> tensor<2x96xf32>
  // GENERIC-NEXT: %y1 = "tgraph.join"(%b, %a) <{heads = 1 : i64, number = 6 : i64}> : (tensor<2x32xf32>, tensor<2x64xf32>) -> tensor<2x96xf32>
  %y1 = tgraph.join %b, %a heads 1 number 6 : (tensor<2x32xf32>, tensor<2x64xf32>) -> tensor<2x96xf32>
  func.return
}

// CHECK-LABEL: func.func @head_matmul(
// GENERIC-LABEL: sym_name = "head_matmul"
func.func @head_matmul(%x: tensor<2x64xf32>, %q: !tgraph.q8<2x64, two_plane>, %t: !tgraph.rows<q8_0, 64x32, transposed>, %r: !tgraph.rows<bf16, 64x24>, %v: tensor<64x24xf32>) {
  // Rows that are outputs, rows that are inputs, values.
  // CHECK-NEXT: %y0 = tgraph.head_matmul %x, %t heads 2 inputs 32 outputs 32 : (tensor<2x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  // GENERIC: %y0 = "tgraph.head_matmul"(%x, %t) <{heads = 2 : i64, inputs = 32 : i64, outputs = 32 : i64}> : (tensor<2x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  %y0 = tgraph.head_matmul %x, %t heads 2 inputs 32 outputs 32 : (tensor<2x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  // CHECK-NEXT: %y1 = tgraph.head_matmul %x, %r heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x24>) -> tensor<2x96xf32>
  // GENERIC-NEXT: %y1 = "tgraph.head_matmul"(%x, %r) <{heads = 4 : i64, inputs = 16 : i64, outputs = 24 : i64}> : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x24>) -> tensor<2x96xf32>
  %y1 = tgraph.head_matmul %x, %r heads 4 inputs 16 outputs 24 : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x24>) -> tensor<2x96xf32>
  // CHECK-NEXT: %y2 = tgraph.head_matmul %x, %v heads 4 inputs 16 outputs 24 number 7 : (tensor<2x64xf32>, tensor<64x24xf32>) -> tensor<2x96xf32>
  // GENERIC-NEXT: %y2 = "tgraph.head_matmul"(%x, %v) <{heads = 4 : i64, inputs = 16 : i64, outputs = 24 : i64, number = 7 : i64}> : (tensor<2x64xf32>, tensor<64x24xf32>) -> tensor<2x96xf32>
  %y2 = tgraph.head_matmul %x, %v heads 4 inputs 16 outputs 24 number 7 : (tensor<2x64xf32>, tensor<64x24xf32>) -> tensor<2x96xf32>
  // CHECK-NEXT: %y3 = tgraph.head_matmul %q, %t heads 2 inputs 32 outputs 32 : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  // GENERIC-NEXT: %y3 = "tgraph.head_matmul"(%q, %t) <{heads = 2 : i64, inputs = 32 : i64, outputs = 32 : i64}> : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  %y3 = tgraph.head_matmul %q, %t heads 2 inputs 32 outputs 32 : (!tgraph.q8<2x64, two_plane>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<2x64xf32>
  func.return
}
