// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "moe_of_no_experts"
// CHECK: | Operation does not verify: experts: expected at least 1, got 0
func.func @moe_of_no_experts(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 0 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_that_takes_none"
// CHECK: | Operation does not verify: top_k: expected at least 1, got 0
func.func @moe_that_takes_none(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 0 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_nothing_hidden"
// CHECK: | Operation does not verify: hidden: expected at least 1, got 0
func.func @moe_of_nothing_hidden(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_that_takes_more_than_there_are"
// CHECK: | Operation does not verify: moe top_k: expected at most the 8 experts, got 9
func.func @moe_that_takes_more_than_there_are(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 9 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_a_vector"
// CHECK: | Operation does not verify: moe x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @moe_of_a_vector(%x: tensor<64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_a_router_of_a_vector"
// CHECK: | Operation does not verify: moe router: expected a static tensor<RxWxf32>, got tensor<512xf32>
func.func @moe_by_a_router_of_a_vector(%x: tensor<2x64xf32>, %r: tensor<512xf32>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, tensor<512xf32>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_a_router_of_inputs"
// CHECK: | Operation does not verify: moe router: expected (64, 8), got (8, 64)
func.func @moe_by_a_router_of_inputs(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_a_router_of_fewer_experts"
// CHECK: | Operation does not verify: moe router: expected (64, 8), got (64, 4)
func.func @moe_by_a_router_of_fewer_experts(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 4x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_gates_of_one_expert"
// CHECK: | Operation does not verify: moe gate: (inputs, outputs of all experts): expected (64, 256), got (64, 32)
func.func @moe_by_gates_of_one_expert(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 32x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 32x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_gates_of_a_cube"
// CHECK: | Operation does not verify: moe gate: expected a static tensor<RxWxf32>, got tensor<8x32x64xf32>
func.func @moe_by_gates_of_a_cube(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: tensor<8x32x64xf32>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, tensor<8x32x64xf32>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_ups_of_another_width"
// CHECK: | Operation does not verify: moe up: (inputs, outputs of all experts): expected (64, 256), got (32, 256)
func.func @moe_by_ups_of_another_width(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x32, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x32, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_by_downs_as_ups"
// CHECK: | Operation does not verify: moe down: (inputs, outputs of all experts): expected (32, 512), got (64, 256)
func.func @moe_by_downs_as_ups(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 256x64, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_router_bias_of_a_vector"
// CHECK: | Operation does not verify: moe router_bias: expected a static tensor<RxWxf32>, got tensor<8xf32>
func.func @moe_with_a_router_bias_of_a_vector(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %router_bias: tensor<8xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_bias %router_bias : tensor<8xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_router_bias_of_a_column"
// CHECK: | Operation does not verify: moe router_bias: expected (1, 8), got (8, 1)
func.func @moe_with_a_router_bias_of_a_column(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %router_bias: tensor<8x1xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_bias %router_bias : tensor<8x1xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_gate_bias_of_a_row"
// CHECK: | Operation does not verify: moe gate_bias: expected (8, 32), got (1, 256)
func.func @moe_with_a_gate_bias_of_a_row(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %gate_bias: tensor<1x256xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d gate_bias %gate_bias : tensor<1x256xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_an_up_bias_of_a_row"
// CHECK: | Operation does not verify: moe up_bias: expected (8, 32), got (1, 256)
func.func @moe_with_an_up_bias_of_a_row(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %up_bias: tensor<1x256xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d up_bias %up_bias : tensor<1x256xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_down_bias_of_hidden_values"
// CHECK: | Operation does not verify: moe down_bias: expected (8, 64), got (8, 32)
func.func @moe_with_a_down_bias_of_hidden_values(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %down_bias: tensor<8x32xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d down_bias %down_bias : tensor<8x32xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_selection_bias_a_row"
// CHECK: | Operation does not verify: moe selection_bias: expected (1, 8), got (2, 8)
func.func @moe_with_a_selection_bias_a_row(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %selection_bias: tensor<2x8xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d selection_bias %selection_bias : tensor<2x8xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_a_limit_on_silu"
// CHECK: | Operation does not verify: moe limit: expected one with clamped_swiglu alone, got 7.0 with silu
func.func @moe_with_a_limit_on_silu(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 limit 7.0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_clamped_swiglu_without_a_limit"
// CHECK: | Operation does not verify: moe limit: expected one with clamped_swiglu alone, got none with clamped_swiglu
func.func @moe_of_clamped_swiglu_without_a_limit(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax clamped_swiglu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_a_limit_of_nothing"
// CHECK: | Operation does not verify: moe limit: expected a finite number of more than 0, got 0.0
func.func @moe_of_a_limit_of_nothing(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax clamped_swiglu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 limit 0.0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_an_infinite_limit"
// CHECK: | Operation does not verify: moe limit: expected a finite number of more than 0, got inf
func.func @moe_of_an_infinite_limit(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax clamped_swiglu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 limit 0x7f800000 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_a_routed_scale_of_nothing"
// CHECK: | Operation does not verify: moe routed_scale: expected a finite number of more than 0, got 0.0
func.func @moe_of_a_routed_scale_of_nothing(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 routed_scale 0.0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_a_nan_routed_scale"
// CHECK: | Operation does not verify: moe routed_scale: expected a finite number of more than 0, got nan
func.func @moe_of_a_nan_routed_scale(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 routed_scale 0x7fc00000 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_other_rows_for_its_router"
// CHECK: | Operation does not verify: moe router_x: expected (2, 64), got (1, 64)
func.func @moe_with_other_rows_for_its_router(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %router_x: tensor<1x64xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_x %router_x : tensor<1x64xf32> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_with_quantized_rows_for_its_router"
// CHECK: | Operation does not verify: moe router_x: expected a static tensor<RxWxf32>, got !tgraph.q8<2x64>
func.func @moe_with_quantized_rows_for_its_router(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>, %router_x: !tgraph.q8<2x64>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_x %router_x : !tgraph.q8<2x64> experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_q8_by_plain_gates"
// CHECK: | Operation does not verify: moe gate: expected transposed rows of a block format over a quantized x, got !tgraph.rows<bf16, 256x64, transposed>
func.func @moe_of_q8_by_plain_gates(%x: !tgraph.q8<2x64>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<q8_0, 256x64, transposed>, %d: !tgraph.rows<q8_0, 512x32, transposed>, %router_x: tensor<2x64xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_x %router_x : tensor<2x64xf32> experts 8 top_k 2 hidden 32 : !tgraph.q8<2x64>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_q8_by_ups_of_inputs"
// CHECK: | Operation does not verify: moe up: expected transposed rows of a block format over a quantized x, got !tgraph.rows<q8_0, 64x256>
func.func @moe_of_q8_by_ups_of_inputs(%x: !tgraph.q8<2x64>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<q8_0, 256x64, transposed>, %u: !tgraph.rows<q8_0, 64x256>, %d: !tgraph.rows<q8_0, 512x32, transposed>, %router_x: tensor<2x64xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_x %router_x : tensor<2x64xf32> experts 8 top_k 2 hidden 32 : !tgraph.q8<2x64>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 64x256>, !tgraph.rows<q8_0, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_q8_by_downs_of_values"
// CHECK: | Operation does not verify: moe down: expected transposed rows of a block format over a quantized x, got tensor<32x512xf32>
func.func @moe_of_q8_by_downs_of_values(%x: !tgraph.q8<2x64>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<q8_0, 256x64, transposed>, %u: !tgraph.rows<q8_0, 256x64, transposed>, %d: tensor<32x512xf32>, %router_x: tensor<2x64xf32>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d router_x %router_x : tensor<2x64xf32> experts 8 top_k 2 hidden 32 : !tgraph.q8<2x64>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, tensor<32x512xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_q8_by_a_plain_router_alone"
// CHECK: | Operation does not verify: moe router_x: expected f32 rows for a router of !tgraph.rows<bf16, 8x64, transposed>, got none
func.func @moe_of_q8_by_a_plain_router_alone(%x: !tgraph.q8<2x64>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<q8_0, 256x64, transposed>, %u: !tgraph.rows<q8_0, 256x64, transposed>, %d: !tgraph.rows<q8_0, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : !tgraph.q8<2x64>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_q8_by_a_router_of_values_alone"
// CHECK: | Operation does not verify: moe router_x: expected f32 rows for a router of tensor<64x8xf32>, got none
func.func @moe_of_q8_by_a_router_of_values_alone(%x: !tgraph.q8<2x64>, %r: tensor<64x8xf32>, %g: !tgraph.rows<q8_0, 256x64, transposed>, %u: !tgraph.rows<q8_0, 256x64, transposed>, %d: !tgraph.rows<q8_0, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : !tgraph.q8<2x64>, tensor<64x8xf32>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 256x64, transposed>, !tgraph.rows<q8_0, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_no_groups"
// CHECK: | Operation does not verify: groups: expected at least 1, got 0
func.func @moe_of_no_groups(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 0 kept 1 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_that_keeps_no_group"
// CHECK: | Operation does not verify: kept_groups: expected at least 1, got 0
func.func @moe_that_keeps_no_group(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 2 kept 0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_groups_that_do_not_divide"
// CHECK: | Operation does not verify: moe groups: expected to divide 8 experts by 2 or more each, got 3
func.func @moe_of_groups_that_do_not_divide(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 3 kept 1 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_groups_of_one"
// CHECK: | Operation does not verify: moe groups: expected to divide 8 experts by 2 or more each, got 8
func.func @moe_of_groups_of_one(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 8 kept 2 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_that_keeps_more_groups_than_there_are"
// CHECK: | Operation does not verify: moe kept groups: expected at most 2 and room for 2 experts, got 3
func.func @moe_that_keeps_more_groups_than_there_are(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 2 kept 3 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_kept_groups_without_room"
// CHECK: | Operation does not verify: moe kept groups: expected at most 4 and room for 3 experts, got 1
func.func @moe_of_kept_groups_without_room(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 3 hidden 32 groups 4 kept 1 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_to_the_hidden_width"
// CHECK: | Operation does not verify: moe result: expected (2, 64), got (2, 32)
func.func @moe_to_the_hidden_width(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_groups_alone"
// CHECK: | Operation does not verify: moe groups: expected groups and kept groups together, got one without the other
func.func @moe_of_groups_alone(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = "tgraph.moe"(%x, %r, %g, %u, %d) <{scores = #tgraph<scores softmax>, act = #tgraph<expert_activation silu>, experts = 8 : i64, top_k = 2 : i64, hidden = 32 : i64, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>}> : (tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_kept_groups_alone"
// CHECK: | Operation does not verify: moe groups: expected groups and kept groups together, got one without the other
func.func @moe_of_kept_groups_alone(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = "tgraph.moe"(%x, %r, %g, %u, %d) <{scores = #tgraph<scores softmax>, act = #tgraph<expert_activation silu>, experts = 8 : i64, top_k = 2 : i64, hidden = 32 : i64, kept_groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>}> : (tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed>) -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: %y = tgraph.moe tanh silu
// CHECK: Expected `softmax`, or `sigmoid`.
func.func @moe_by_other_scores(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe tanh silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: %y = tgraph.moe softmax relu
// CHECK: Expected `silu`, `gelu`, `gelu_tanh`, or `clamped_swiglu`.
func.func @moe_by_another_activation(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax relu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_groups_smaller_than_their_best"
// CHECK: | Operation does not verify: moe groups: expected to divide 8 experts by 3 or more each, got 4
func.func @moe_of_groups_smaller_than_their_best(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 4 kept 2 best 3 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_groups_ranked_by_none"
// CHECK: | Operation does not verify: group_best: expected at least 1, got 0
func.func @moe_of_groups_ranked_by_none(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 groups 4 kept 2 best 0 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "moe_of_a_best_without_groups"
// CHECK: | Operation does not verify: moe best: expected groups that it ranks, got none
func.func @moe_of_a_best_without_groups(%x: tensor<2x64xf32>, %r: !tgraph.rows<bf16, 8x64, transposed>, %g: !tgraph.rows<bf16, 256x64, transposed>, %u: !tgraph.rows<bf16, 256x64, transposed>, %d: !tgraph.rows<bf16, 512x32, transposed>) {
  %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 8 top_k 2 hidden 32 best 1 : tensor<2x64xf32>, !tgraph.rows<bf16, 8x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 256x64, transposed>, !tgraph.rows<bf16, 512x32, transposed> -> tensor<2x64xf32>
  func.return
}
