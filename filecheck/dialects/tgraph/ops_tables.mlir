// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Rows read from tables and written into them.

// CHECK-LABEL: func.func @gather(
// GENERIC-LABEL: sym_name = "gather"
func.func @gather(%t: tensor<8x64xf32>, %e: !tgraph.rows<bf16, 256x64>, %i: tensor<1xi32>, %many: tensor<3xi32>) {
  // CHECK-NEXT: %x0 = tgraph.row_gather %e at %i : (!tgraph.rows<bf16, 256x64>, tensor<1xi32>) -> tensor<1x64xf32>
  // GENERIC: %x0 = "tgraph.row_gather"(%e, %i) : (!tgraph.rows<bf16, 256x64>, tensor<1xi32>) -> tensor<1x64xf32>
  %x0 = tgraph.row_gather %e at %i : (!tgraph.rows<bf16, 256x64>, tensor<1xi32>) -> tensor<1x64xf32>
  // CHECK-NEXT: %x1 = tgraph.row_gather %t at %i number 1 : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %x1 = "tgraph.row_gather"(%t, %i) <{number = 1 : i64}> : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %x1 = tgraph.row_gather %t at %i number 1 : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // The last row.
  // CHECK-NEXT: %x2 = tgraph.row_gather %t row 7 number 2 : (tensor<8x64xf32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %x2 = "tgraph.row_gather"(%t) <{row = 7 : i64, number = 2 : i64}> : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %x2 = tgraph.row_gather %t row 7 number 2 : (tensor<8x64xf32>) -> tensor<1x64xf32>
  // CHECK-NEXT: %x3 = tgraph.rows_gather %e at %many : (!tgraph.rows<bf16, 256x64>, tensor<3xi32>) -> tensor<3x64xf32>
  // GENERIC-NEXT: %x3 = "tgraph.rows_gather"(%e, %many) : (!tgraph.rows<bf16, 256x64>, tensor<3xi32>) -> tensor<3x64xf32>
  %x3 = tgraph.rows_gather %e at %many : (!tgraph.rows<bf16, 256x64>, tensor<3xi32>) -> tensor<3x64xf32>
  // CHECK-NEXT: %x4 = tgraph.rows_gather %t at %i number 3 : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  // GENERIC-NEXT: %x4 = "tgraph.rows_gather"(%t, %i) <{number = 3 : i64}> : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %x4 = tgraph.rows_gather %t at %i number 3 : (tensor<8x64xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return
}

// CHECK-LABEL: func.func @set_row(
// GENERIC-LABEL: sym_name = "set_row"
func.func @set_row(%t: tensor<8x64xf32>, %x: tensor<1x64xf32>, %m: tensor<3x64xf32>, %i: tensor<1xi32>) {
  // CHECK-NEXT: %t0 = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  // GENERIC: %t0 = "tgraph.set_row"(%t, %x, %i) : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %t0 = tgraph.set_row %t, %x at %i : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  // CHECK-NEXT: %t1 = tgraph.set_row %t, %m at %i number 4 : (tensor<8x64xf32>, tensor<3x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  // GENERIC-NEXT: %t1 = "tgraph.set_row"(%t, %m, %i) <{number = 4 : i64}> : (tensor<8x64xf32>, tensor<3x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %t1 = tgraph.set_row %t, %m at %i number 4 : (tensor<8x64xf32>, tensor<3x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  // The last three rows.
  // CHECK-NEXT: %t2 = tgraph.set_row %t, %m row 5 number 5 : (tensor<8x64xf32>, tensor<3x64xf32>) -> tensor<8x64xf32>
  // GENERIC-NEXT: %t2 = "tgraph.set_row"(%t, %m) <{row = 5 : i64, number = 5 : i64}> : (tensor<8x64xf32>, tensor<3x64xf32>) -> tensor<8x64xf32>
  %t2 = tgraph.set_row %t, %m row 5 number 5 : (tensor<8x64xf32>, tensor<3x64xf32>) -> tensor<8x64xf32>
  // CHECK-NEXT: %t3 = tgraph.set_row %t, %t row 0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  // GENERIC-NEXT: %t3 = "tgraph.set_row"(%t, %t) <{row = 0 : i64}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %t3 = tgraph.set_row %t, %t row 0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return
}
