// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "decay_of_a_vector"
// CHECK: | Operation does not verify: decay a: expected a static tensor<RxWxf32>, got tensor<4xf32>
func.func @decay_of_a_vector(%a: tensor<4xf32>, %dt: tensor<4xf32>, %al: tensor<4xf32>) {
  %y = tgraph.decay %a, %dt, %al : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "decay_by_a_row_of_biases"
// CHECK: | Operation does not verify: decay dt_bias: expected tensor<4xf32>, got tensor<1x4xf32>
func.func @decay_by_a_row_of_biases(%a: tensor<2x4xf32>, %dt: tensor<1x4xf32>, %al: tensor<4xf32>) {
  %y = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "decay_of_fewer_heads"
// CHECK: | Operation does not verify: decay a_log: expected tensor<4xf32>, got tensor<2xf32>
func.func @decay_of_fewer_heads(%a: tensor<2x4xf32>, %dt: tensor<4xf32>, %al: tensor<2xf32>) {
  %y = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "decay_to_other_rows"
// CHECK: | Operation does not verify: decay result: expected (2, 4), got (1, 4)
func.func @decay_to_other_rows(%a: tensor<2x4xf32>, %dt: tensor<4xf32>, %al: tensor<4xf32>) {
  %y = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  func.return
}

// -----

// CHECK: sym_name = "decay_to_a_vector"
// CHECK: | Operation does not verify: decay result: expected a static tensor<RxWxf32>, got tensor<8xf32>
func.func @decay_to_a_vector(%a: tensor<2x4xf32>, %dt: tensor<4xf32>, %al: tensor<4xf32>) {
  %y = tgraph.decay %a, %dt, %al : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_a_vector"
// CHECK: | Operation does not verify: l2norm x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @l2norm_of_a_vector(%x: tensor<64xf32>) {
  %y = tgraph.l2norm %x cols 16 eps 1.0 : tensor<64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_no_columns"
// CHECK: | Operation does not verify: l2norm cols: expected a divisor of the row's 64 values, got 0
func.func @l2norm_of_no_columns(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 0 eps 1.0 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_that_does_not_divide"
// CHECK: | Operation does not verify: l2norm cols: expected a divisor of the row's 64 values, got 48
func.func @l2norm_that_does_not_divide(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 48 eps 1.0 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_a_negative_eps"
// CHECK: | Operation does not verify: l2norm eps: expected a finite number of at least 0, got -1.0
func.func @l2norm_of_a_negative_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 16 eps -1.0 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_a_nan_eps"
// CHECK: | Operation does not verify: l2norm eps: expected a finite number of at least 0, got nan
func.func @l2norm_of_a_nan_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 16 eps 0x7fc00000 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_an_infinite_eps"
// CHECK: | Operation does not verify: l2norm eps: expected a finite number of at least 0, got inf
func.func @l2norm_of_an_infinite_eps(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 16 eps 0x7f800000 : tensor<2x64xf32> -> tensor<2x64xf32>
  func.return
}

// -----

// CHECK: sym_name = "l2norm_to_another_width"
// CHECK: | Operation does not verify: l2norm result: expected (2, 64), got (2, 32)
func.func @l2norm_to_another_width(%x: tensor<2x64xf32>) {
  %y = tgraph.l2norm %x cols 16 eps 1.0 : tensor<2x64xf32> -> tensor<2x32xf32>
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_of_a_vector"
// CHECK: | Operation does not verify: causal_conv x: expected a static tensor<RxWxf32>, got tensor<64xf32>
func.func @causal_conv_of_a_vector(%x: tensor<64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_by_checkpoint_rows"
// CHECK: | Operation does not verify: causal_conv weight: expected a static tensor<RxWxf32>, got !tgraph.rows<bf16, 64x4>
func.func @causal_conv_by_checkpoint_rows(%x: tensor<2x64xf32>, %w: !tgraph.rows<bf16, 64x4>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x4>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_by_taps_and_channels"
// CHECK: | Operation does not verify: causal_conv weight channels: expected 64, got 4
func.func @causal_conv_by_taps_and_channels(%x: tensor<2x64xf32>, %w: tensor<4x64xf32>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<4x64xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_of_one_tap"
// CHECK: | Operation does not verify: causal_conv weight: expected at least 2 taps, got 1
func.func @causal_conv_of_one_tap(%x: tensor<2x64xf32>, %w: tensor<64x1xf32>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x1xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<3x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_over_a_ring_of_all_taps"
// CHECK: | Operation does not verify: causal_conv ring: expected (3, 64), got (4, 64)
func.func @causal_conv_over_a_ring_of_all_taps(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<4x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<4x64xf32>) -> (tensor<2x64xf32>, tensor<4x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_over_a_ring_of_integers"
// CHECK: | Operation does not verify: causal_conv ring: expected a static tensor<RxWxf32>, got tensor<3x64xi32>
func.func @causal_conv_over_a_ring_of_integers(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xi32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xi32>) -> (tensor<2x64xf32>, tensor<3x64xi32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_to_the_rows_it_read"
// CHECK: | Operation does not verify: causal_conv result: expected (2, 64), got (5, 64)
func.func @causal_conv_to_the_rows_it_read(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<5x64xf32>, tensor<3x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "causal_conv_to_another_ring"
// CHECK: | Operation does not verify: causal_conv new ring: expected tensor<3x64xf32>, got tensor<2x64xf32>
func.func @causal_conv_to_another_ring(%x: tensor<2x64xf32>, %w: tensor<64x4xf32>, %r: tensor<3x64xf32>) {
  %y, %n = tgraph.causal_conv %x, %w, %r : (tensor<2x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_no_value_heads"
// CHECK: | Operation does not verify: value_heads: expected at least 1, got 0
func.func @gated_delta_of_no_value_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 0 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_no_key_heads"
// CHECK: | Operation does not verify: key_heads: expected at least 1, got 0
func.func @gated_delta_of_no_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 0 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_heads_of_nothing"
// CHECK: | Operation does not verify: head_dim: expected at least 1, got 0
func.func @gated_delta_of_heads_of_nothing(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 0 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_heads_that_do_not_group"
// CHECK: | Operation does not verify: gated_delta: expected value heads a multiple of the 3 key heads, got 4
func.func @gated_delta_of_heads_that_do_not_group(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 3 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_a_negative_eps"
// CHECK: | Operation does not verify: gated_delta eps: expected a finite number of at least 0, got -1.0
func.func @gated_delta_of_a_negative_eps(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps -1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_an_infinite_eps"
// CHECK: | Operation does not verify: gated_delta eps: expected a finite number of at least 0, got inf
func.func @gated_delta_of_an_infinite_eps(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 0x7f800000 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_a_vector"
// CHECK: | Operation does not verify: gated_delta q: expected a static tensor<RxWxf32>, got tensor<32xf32>
func.func @gated_delta_of_a_vector(%q: tensor<32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_wider_queries"
// CHECK: | Operation does not verify: gated_delta q: expected (2, 32), got (2, 64)
func.func @gated_delta_of_wider_queries(%q: tensor<2x64xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x64xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_keys_of_other_rows"
// CHECK: | Operation does not verify: gated_delta k: expected (2, 32), got (1, 32)
func.func @gated_delta_of_keys_of_other_rows(%q: tensor<2x32xf32>, %k: tensor<1x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<1x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_values_by_key_heads"
// CHECK: | Operation does not verify: gated_delta v: expected (2, 64), got (2, 32)
func.func @gated_delta_of_values_by_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x32xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_a_gate_by_key_heads"
// CHECK: | Operation does not verify: gated_delta z: expected (2, 64), got (2, 32)
func.func @gated_delta_of_a_gate_by_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x32xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x32xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_beta_by_key_heads"
// CHECK: | Operation does not verify: gated_delta beta: expected (2, 4), got (2, 2)
func.func @gated_delta_of_beta_by_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x2xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x2xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_of_decay_by_key_heads"
// CHECK: | Operation does not verify: gated_delta decay: expected (2, 4), got (2, 2)
func.func @gated_delta_of_decay_by_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x2xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_over_a_state_by_key_heads"
// CHECK: | Operation does not verify: gated_delta state: expected (64, 16), got (32, 16)
func.func @gated_delta_over_a_state_by_key_heads(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<32x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<32x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<32x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_by_a_norm_of_the_row"
// CHECK: | Operation does not verify: gated_delta norm_weight: expected tensor<16xf32>, got tensor<64xf32>
func.func @gated_delta_by_a_norm_of_the_row(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<64xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<64xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_to_other_rows"
// CHECK: | Operation does not verify: gated_delta result: expected tensor<2x64xf32>, got tensor<1x64xf32>
func.func @gated_delta_to_other_rows(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<1x64xf32>, tensor<64x16xf32>)
  func.return
}

// -----

// CHECK: sym_name = "gated_delta_to_another_state"
// CHECK: | Operation does not verify: gated_delta new state: expected tensor<64x16xf32>, got tensor<16x64xf32>
func.func @gated_delta_to_another_state(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta silu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<16x64xf32>)
  func.return
}

// -----

// CHECK: %y, %t = tgraph.gated_delta gelu
// CHECK: Expected `silu`, or `sigmoid`.
func.func @gated_delta_by_another_word(%q: tensor<2x32xf32>, %k: tensor<2x32xf32>, %v: tensor<2x64xf32>, %z: tensor<2x64xf32>, %b: tensor<2x4xf32>, %d: tensor<2x4xf32>, %s: tensor<64x16xf32>, %n: tensor<16xf32>) {
  %y, %t = tgraph.gated_delta gelu %q, %k, %v, %z, %b, %d, %s, %n value_heads 4 key_heads 2 head_dim 16 eps 1.0 : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<64x16xf32>, tensor<16xf32>) -> (tensor<2x64xf32>, tensor<64x16xf32>)
  func.return
}
