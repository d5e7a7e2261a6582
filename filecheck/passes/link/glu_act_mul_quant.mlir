// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A gated unit that writes its result quantized.

// CHECK-LABEL: func.func @glu_act_mul_quant_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.swiglu(gate = %x : memref<2x32xf32>, up = %y : memref<2x32xf32>, quant = %q : !tgraph.q8<2x32>) covers [0, 1]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @glu_act_mul_quant_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
  %r = tgraph.fused glu_act_mul_quant(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
    %s = tgraph.swiglu %x_1, %y_1 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r : !tgraph.q8<2x32>
}

// -----

// CHECK-LABEL: func.func @glu_act_mul_quant_1(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.binary(a = %y : memref<2x32xf32>, b = %x : memref<2x32xf32>, quant = %q : !tgraph.q8<2x32>) {kind = #tgraph<binary_kind mul>, gate = #launch<act silu>} covers [0, 1, 2]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @glu_act_mul_quant_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
  %r = tgraph.fused glu_act_mul_quant(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>) -> (!tgraph.q8<2x32>) {
    %s = tgraph.fused glu_act_mul(%x_2 = %x_1 : tensor<2x32xf32>, %y_2 = %y_1 : tensor<2x32xf32>) -> (tensor<2x32xf32>) {
      %a = tgraph.silu %x_2 : tensor<2x32xf32> -> tensor<2x32xf32>
      %b = tgraph.elementwise mul %a, %y_2 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
      tgraph.yield %b : tensor<2x32xf32>
    }
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r : !tgraph.q8<2x32>
}
