// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// Each set carries its row's quantized form; the f32 rows are stored where they are read.

// CHECK-LABEL: func.func @alone(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x64>
// CHECK-NEXT: launch.set_row(source = %a : memref<1x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 0 : i64} covers [0]
// CHECK-NEXT: launch.set_row(source = %b : memref<1x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 1 : i64} covers [1, 2]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x64>
// CHECK-NEXT: }
func.func @alone(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %t: tensor<2x64xf32>, %a: tensor<1x64xf32>, %b: tensor<1x64xf32>) -> (!tgraph.q8<2x64>) {
  %t1 = tgraph.set_row %t, %a row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %t2 = tgraph.set_row %t1, %b row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %q = tgraph.quantize %t2 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %q : !tgraph.q8<2x64>
}

// -----

// CHECK-LABEL: func.func @beside_f32(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x64>
// CHECK-NEXT: %t2 = launch.alloc : memref<2x64xf32>
// CHECK-NEXT: launch.set_row(source = %a : memref<1x64xf32>, out = %t2 : memref<2x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 0 : i64} covers [0]
// CHECK-NEXT: launch.set_row(source = %b : memref<1x64xf32>, out = %t2 : memref<2x64xf32>, quant = %q : !tgraph.q8<2x64>) {row = 1 : i64} covers [1, 2]
// CHECK-NEXT: func.return %q, %t2 : !tgraph.q8<2x64>, memref<2x64xf32>
// CHECK-NEXT: }
func.func @beside_f32(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %t: tensor<2x64xf32>, %a: tensor<1x64xf32>, %b: tensor<1x64xf32>) -> (!tgraph.q8<2x64>, tensor<2x64xf32>) {
  %t1 = tgraph.set_row %t, %a row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %t2 = tgraph.set_row %t1, %b row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %q = tgraph.quantize %t2 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %q, %t2 : !tgraph.q8<2x64>, tensor<2x64xf32>
}
