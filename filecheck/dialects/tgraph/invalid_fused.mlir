// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "fused_of_other_arguments"
// CHECK: | Operation does not verify: fused add_norm: expected block arguments of (tensor<1x64xf32>), got (tensor<1x32xf32>)
func.func @fused_of_other_arguments(%x: tensor<1x64xf32>) {
  %r = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
  ^bb0(%a: tensor<1x32xf32>):
    %b = tgraph.silu %a : tensor<1x32xf32> -> tensor<1x32xf32>
    %c = tgraph.silu %b : tensor<1x32xf32> -> tensor<1x32xf32>
    tgraph.yield %c : tensor<1x32xf32>
  }) : (tensor<1x64xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_of_no_arguments"
// CHECK: | Operation does not verify: fused add_norm: expected block arguments of (tensor<1x64xf32>), got ()
func.func @fused_of_no_arguments(%x: tensor<1x64xf32>) {
  %r = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
    %b = tgraph.constant #tgraph.checkpoint<"w"> : tensor<1x64xf32>
    tgraph.yield %b : tensor<1x64xf32>
  }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_yielding_another_type"
// CHECK: | Operation does not verify: fused add_norm: expected to yield (tensor<1x32xf32>), got (tensor<1x64xf32>)
func.func @fused_yielding_another_type(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x32xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_yielding_too_few"
// CHECK: | Operation does not verify: fused add_norm: expected to yield (tensor<1x64xf32>, tensor<1x64xf32>), got (tensor<1x64xf32>)
func.func @fused_yielding_too_few(%x: tensor<1x64xf32>) {
  %r, %s = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_keeping_nothing"
// CHECK: | Operation does not verify: fused add_norm: expected at least one result, got none
func.func @fused_keeping_nothing(%x: tensor<1x64xf32>) {
  tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> () {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_yielding_an_argument"
// CHECK: | Operation does not verify: fused add_norm: expected to yield results of its parts, got argument 0
func.func @fused_yielding_an_argument(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %a : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_of_a_constant"
// CHECK: | Operation does not verify: fused add_norm: expected lifted or fused ops as parts, got tgraph.constant
func.func @fused_of_a_constant(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<64xf32>
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_of_one_part"
// CHECK: | Operation does not verify: fused add_norm: expected at least two parts, got 1
func.func @fused_of_one_part(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %b : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_reading_from_outside"
// CHECK: | Operation does not verify: Operation using value defined out of its IsolatedFromAbove parent: SiluOp(%b = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>)
func.func @fused_reading_from_outside(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: Operation tgraph.sigmoid terminates block in single-block region but is not a terminator
func.func @fused_without_a_yield(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_returning"
// CHECK: | Operation does not verify: 'func.return' expects parent op 'func.func'
func.func @fused_returning(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    func.return %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_of_two_blocks"
// CHECK: | Operation does not verify: Region 'body' at position 0 expected a single block, but got 2 blocks
func.func @fused_of_two_blocks(%x: tensor<1x64xf32>) {
  %r = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
  ^bb0(%a: tensor<1x64xf32>):
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  ^bb1:
    tgraph.yield
  }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "fused_of_no_block"
// CHECK: | Operation does not verify: Region 'body' at position 0 expected a single block, but got 0 blocks
func.func @fused_of_no_block(%x: tensor<1x64xf32>) {
  %r = "tgraph.fused"(%x) <{fusion_class = #tgraph<fusion_class add_norm>}> ({
  }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: %r = tgraph.fused magic(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
// CHECK: Expected {{.*}}`add_norm`{{.*}}`merged_qkv`
func.func @fused_under_an_unknown_class(%x: tensor<1x64xf32>) {
  %r = tgraph.fused magic(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: sym_name = "fused_without_a_class"
// CHECK: | Operation does not verify: property 'fusion_class' expected in operation 'tgraph.fused'
func.func @fused_without_a_class(%x: tensor<1x64xf32>) {
  %r = "tgraph.fused"(%x) ({
  ^bb0(%a: tensor<1x64xf32>):
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>, %a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
// CHECK: SSA value %a is already defined
func.func @fused_naming_an_argument_twice(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>, %a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: %r = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>) -> (tensor<1x64xf32>) {
// CHECK: operand is used with type tensor<1x32xf32>, but has been previously used or defined with type tensor<1x64xf32>
func.func @fused_of_an_operand_of_another_type(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  func.return
}

// -----

// CHECK: tgraph.fused: operand 0 (a result of tgraph.silu) does not dominate its use
func.func @fused_before_its_operand(%x: tensor<1x64xf32>) {
  %r = tgraph.fused add_norm(%a = %late : tensor<1x64xf32>) -> (tensor<1x64xf32>) {
    %b = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %c = tgraph.sigmoid %b : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %c : tensor<1x64xf32>
  }
  %late = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "yield_outside_a_fused_op"
// CHECK: | Operation does not verify: 'tgraph.yield' expects parent op 'tgraph.fused'
func.func @yield_outside_a_fused_op(%x: tensor<1x64xf32>) {
  tgraph.yield %x : tensor<1x64xf32>
}
