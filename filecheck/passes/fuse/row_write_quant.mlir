// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// Rows, put together and read quantized: each set carries its row's quantized form.
// CHECK-LABEL: func.func @rows
func.func @rows(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>) -> !tgraph.q8<2x64> {
  // CHECK:      %a1 = tgraph.silu
  // CHECK-NEXT: %z = tgraph.fused row_write_quant(%g_1 = %g : {{.*}}, %a0_1 = %a0 : {{.*}}, %a1_1 = %a1 : {{.*}}) -> (!tgraph.q8<2x64>) {
  // CHECK-NEXT:   %t = tgraph.set_row %g_1, %a0_1 row 0
  // CHECK-NEXT:   %u = tgraph.set_row %t, %a1_1 row 1
  // CHECK-NEXT:   %z_1 = tgraph.quantize %u
  // CHECK-NEXT:   tgraph.yield %z_1
  // CHECK-NEXT: }
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.silu %q0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.silu %q1 : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %g, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %u : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z : !tgraph.q8<2x64>
}

// The f32 rows are read too, before the quantize; a row is read elsewhere.
// CHECK-LABEL: func.func @beside_f32
func.func @beside_f32(%q: tensor<2x64xf32>, %g: tensor<2x64xf32>) -> (!tgraph.q8<2x64>, tensor<2x64xf32>, tensor<1x64xf32>) {
  // CHECK:      %u, %z = tgraph.fused row_write_quant({{.*}}) -> (tensor<2x64xf32>, !tgraph.q8<2x64>) {
  // CHECK:      }
  // CHECK-NEXT: tgraph.scale %u
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.silu %q0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.silu %q1 : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %g, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %r = tgraph.scale %u by 2.000000e+00 : tensor<2x64xf32> -> tensor<2x64xf32>
  %z = tgraph.quantize %u : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z, %r, %a0 : !tgraph.q8<2x64>, tensor<2x64xf32>, tensor<1x64xf32>
}

// -----

// Two rows at once, one of which is set again.
// CHECK-LABEL: func.func @two_rows_at_once
// CHECK-NOT: row_write_quant
func.func @two_rows_at_once(%a: tensor<1x64xf32>, %c: tensor<2x64xf32>, %o: tensor<2x64xf32>) -> !tgraph.q8<2x64> {
  %t = tgraph.set_row %o, %c row 0 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = tgraph.quantize %u : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z : !tgraph.q8<2x64>
}

// A row of the old tensor is left; rows out of order; a row set at a position; two rows at once; set and read between.
// CHECK-LABEL: func.func @not_matched
// CHECK-NOT: row_write_quant
func.func @not_matched(%a: tensor<1x64xf32>, %b: tensor<1x64xf32>, %c: tensor<2x64xf32>, %o: tensor<2x64xf32>, %p: tensor<1xi32>)
    -> (!tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, tensor<2x64xf32>) {
  %t0 = tgraph.set_row %o, %a row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z0 = tgraph.quantize %t0 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  %t1 = tgraph.set_row %o, %a row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u1 = tgraph.set_row %t1, %b row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z1 = tgraph.quantize %u1 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  %t2 = tgraph.set_row %o, %a at %p : (tensor<2x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  %u2 = tgraph.set_row %t2, %b row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z2 = tgraph.quantize %u2 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  %t3 = tgraph.set_row %o, %c row 0 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %z3 = tgraph.quantize %t3 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  %t4 = tgraph.set_row %o, %a row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u4 = tgraph.set_row %t4, %b row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z4 = tgraph.quantize %u4 : tensor<2x64xf32> -> !tgraph.q8<2x64>
  func.return %z0, %z1, %z2, %z3, %z4, %t4
    : !tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, !tgraph.q8<2x64>, tensor<2x64xf32>
}
