// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file | filecheck %s

// A fused op that fits its class's kernels stays.
// CHECK-LABEL: func.func @fits(
// CHECK: tgraph.fused add_norm(
func.func @fits(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %h = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>) -> (tensor<1x32xf32>) {
    %s = tgraph.elementwise add %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %n = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
    tgraph.yield %n : tensor<1x32xf32>
  }
  func.return %h : tensor<1x32xf32>
}

// -----

// One that does not becomes its parts, which keep their numbers and places.
// CHECK-LABEL: func.func @norm_adds_twice(
// CHECK-NEXT: %s = tgraph.elementwise add %x, %y number 0
// CHECK-NEXT: %n = tgraph.fused_row rms %s residual %x cols 32 eps 1.000000e-06 number 1
// CHECK-NEXT: func.return %n, %s
func.func @norm_adds_twice(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %k, %h = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>)
      -> (tensor<1x32xf32>, tensor<1x32xf32>) {
    %s = tgraph.elementwise add %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %n = tgraph.fused_row rms %s residual %a cols 32 eps 1.000000e-06 : tensor<1x32xf32>
    tgraph.yield %s, %n : tensor<1x32xf32>, tensor<1x32xf32>
  }
  func.return %h, %k : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// A fused op around one that does not fit becomes its parts, and that one its own.
// CHECK-LABEL: func.func @around_a_misfit(
// CHECK-NEXT: %s = tgraph.elementwise sub %x, %y number 0
// CHECK-NEXT: %n = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 number 1
// CHECK-NEXT: %q1 = tgraph.quantize %n number 2
// CHECK-NEXT: func.return %q1
func.func @around_a_misfit(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>)
    -> !tgraph.q8<1x32> {
  %q = tgraph.fused add_norm_quant(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>) -> (!tgraph.q8<1x32>) {
    %h = tgraph.fused add_norm(%c = %a : tensor<1x32xf32>, %d = %b : tensor<1x32xf32>) -> (tensor<1x32xf32>) {
      %s = tgraph.elementwise sub %c, %d : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
      %n = tgraph.fused_row rms %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
      tgraph.yield %n : tensor<1x32xf32>
    }
    %q1 = tgraph.quantize %h : tensor<1x32xf32> -> !tgraph.q8<1x32>
    tgraph.yield %q1 : !tgraph.q8<1x32>
  }
  func.return %q : !tgraph.q8<1x32>
}

// -----

// Five rotations are more than one launch takes.
// CHECK-LABEL: func.func @five_sides(
// CHECK-NOT: tgraph.fused
// CHECK-COUNT-5: tgraph.rope
func.func @five_sides(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %cos: tensor<8x16xf32>,
    %pos: tensor<1xi32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %y, %z = tgraph.fused rope_qk_one_launch(%a = %x : tensor<1x32xf32>, %c = %cos : tensor<8x16xf32>,
      %p = %pos : tensor<1xi32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
    %1 = tgraph.rope %a, %c, %c at %p heads 1 head_dim 32 half 16
      : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
    %2 = tgraph.rope %a, %c, %c at %p heads 1 head_dim 32 half 16
      : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
    %3 = tgraph.rope %a, %c, %c at %p heads 1 head_dim 32 half 16
      : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
    %4 = tgraph.rope %a, %c, %c at %p heads 1 head_dim 32 half 16
      : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
    %5 = tgraph.rope %a, %c, %c at %p heads 1 head_dim 32 half 16
      : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
    tgraph.yield %4, %5 : tensor<1x32xf32>, tensor<1x32xf32>
  }
  func.return %y, %z : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// The old token is read after the choice: the choice may not take its place yet.
// CHECK-LABEL: func.func @old_token_read(
// CHECK-NOT: tgraph.fused
// CHECK: %t = tgraph.arg_max %x number 0
// CHECK-NEXT: %n = tgraph.advance %pos by 1 number 1
func.func @old_token_read(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position},
    %x: tensor<1x32xf32>) -> (tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 1}, tensor<1xi32>) {
  %next, %moved = tgraph.fused fused_sampling(%a = %x : tensor<1x32xf32>, %p = %pos : tensor<1xi32>)
      -> (tensor<1xi32>, tensor<1xi32>) {
    %t = tgraph.arg_max %a : tensor<1x32xf32> -> tensor<1xi32>
    %n = tgraph.advance %p by 1 : (tensor<1xi32>) -> tensor<1xi32>
    tgraph.yield %t, %n : tensor<1xi32>, tensor<1xi32>
  }
  func.return %next, %moved, %token : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
}
