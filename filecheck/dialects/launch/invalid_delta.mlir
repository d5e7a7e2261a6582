// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "decay_of_other_heads"
// CHECK: | Operation does not verify: launch.decay a_log: expected memref<4xf32>, got memref<5xf32>
func.func @decay_of_other_heads(%a: memref<1x4xf32>, %dt: memref<4xf32>, %al: memref<5xf32>, %y: memref<1x4xf32>) {
  launch.decay(a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<5xf32>, out = %y : memref<1x4xf32>) covers [3]
  func.return
}

// -----

// CHECK: sym_name = "decay_to_another_shape"
// CHECK: | Operation does not verify: launch.decay out: expected (1, 4), got (2, 4)
func.func @decay_to_another_shape(%a: memref<1x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %y: memref<2x4xf32>) {
  launch.decay(a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, out = %y : memref<2x4xf32>) covers [3]
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_groups_that_do_not_divide"
// CHECK: | Operation does not verify: launch.l2norm cols: expected a divisor of the row's 64 values, got 48
func.func @l2norm_of_groups_that_do_not_divide(%x: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.l2norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {cols = 48 : i64, eps = 1.000000e-06 : f32} covers [3]
  func.return
}

// -----

// CHECK: sym_name = "l2norm_of_a_negative_eps"
// CHECK: | Operation does not verify: launch.l2norm eps: expected a finite number of at least 0, got -9.999999974752427e-07
func.func @l2norm_of_a_negative_eps(%x: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.l2norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = -1.000000e-06 : f32} covers [3]
  func.return
}

// -----

// CHECK: sym_name = "conv_of_one_tap"
// CHECK: | Operation does not verify: launch.conv w: expected at least 2 taps, got 1
func.func @conv_of_one_tap(%x: memref<1x64xf32>, %w: memref<64x1xf32>, %r: memref<3x64xf32>, %y: memref<1x64xf32>) {
  launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x1xf32>, ring = %r : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
  func.return
}

// -----

// CHECK: sym_name = "conv_of_other_channels"
// CHECK: | Operation does not verify: launch.conv w channels: expected 64, got 32
func.func @conv_of_other_channels(%x: memref<1x64xf32>, %w: memref<32x4xf32>, %r: memref<3x64xf32>, %y: memref<1x64xf32>) {
  launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<32x4xf32>, ring = %r : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
  func.return
}

// -----

// CHECK: sym_name = "conv_of_another_ring"
// CHECK: | Operation does not verify: launch.conv ring: expected (3, 64), got (4, 64)
func.func @conv_of_another_ring(%x: memref<1x64xf32>, %w: memref<64x4xf32>, %r: memref<4x64xf32>, %y: memref<1x64xf32>) {
  launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x4xf32>, ring = %r : memref<4x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
  func.return
}

// -----

// CHECK: sym_name = "conv_normed_without_eps"
// CHECK: | Operation does not verify: launch.conv: expected l2_cols and eps together, got one without the other
func.func @conv_normed_without_eps(%x: memref<1x64xf32>, %w: memref<64x4xf32>, %r: memref<3x64xf32>, %y: memref<1x64xf32>) {
  launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x4xf32>, ring = %r : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64} covers [3, 4, 5]
  func.return
}

// -----

// CHECK: sym_name = "conv_parts_of_other_taps"
// CHECK: | Operation does not verify: launch.conv_parts: expected one number of rows and taps, got [(1, 3), (1, 4)]
func.func @conv_parts_of_other_taps(%q: memref<1x64xf32>, %wq: memref<64x4xf32>, %rq: memref<3x64xf32>, %qc: memref<1x64xf32>, %v: memref<1x128xf32>, %wv: memref<128x3xf32>, %rv: memref<2x128xf32>, %vc: memref<1x128xf32>) {
  launch.conv_parts() attributes {eps = 1.000000e-06 : f32} { launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5] launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x3xf32>, ring = %rv : memref<2x128xf32>, out = %vc : memref<1x128xf32>) covers [6, 7] }
  func.return
}

// -----

// CHECK: sym_name = "conv_part_of_another_ring"
// CHECK: | Operation does not verify: launch.conv_part ring: expected (3, 128), got (2, 128)
func.func @conv_part_of_another_ring(%q: memref<1x64xf32>, %wq: memref<64x4xf32>, %rq: memref<3x64xf32>, %qc: memref<1x64xf32>, %v: memref<1x128xf32>, %wv: memref<128x4xf32>, %rv: memref<2x128xf32>, %vc: memref<1x128xf32>) {
  launch.conv_parts() attributes {eps = 1.000000e-06 : f32} { launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5] launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<2x128xf32>, out = %vc : memref<1x128xf32>) covers [6, 7] }
  func.return
}

// -----

// CHECK: sym_name = "conv_parts_without_eps"
// CHECK: | Operation does not verify: launch.conv_parts: expected eps where a part has an l2 norm, and nowhere else
func.func @conv_parts_without_eps(%q: memref<1x64xf32>, %wq: memref<64x4xf32>, %rq: memref<3x64xf32>, %qc: memref<1x64xf32>, %v: memref<1x128xf32>, %wv: memref<128x4xf32>, %rv: memref<3x128xf32>, %vc: memref<1x128xf32>) {
  launch.conv_parts() { launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5] launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>, out = %vc : memref<1x128xf32>) covers [6, 7] }
  func.return
}

// -----

// CHECK: sym_name = "conv_parts_of_other_norms"
// CHECK: | Operation does not verify: launch.conv_parts: expected l2 norms of one width, got [32, 64]
func.func @conv_parts_of_other_norms(%q: memref<1x64xf32>, %wq: memref<64x4xf32>, %rq: memref<3x64xf32>, %qc: memref<1x64xf32>, %v: memref<1x128xf32>, %wv: memref<128x4xf32>, %rv: memref<3x128xf32>, %vc: memref<1x128xf32>) {
  launch.conv_parts() attributes {eps = 1.000000e-06 : f32} { launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5] launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>, out = %vc : memref<1x128xf32>) {l2_cols = 64 : i64} covers [6, 7] }
  func.return
}

// -----

// CHECK: sym_name = "delta_of_heads_that_do_not_group"
// CHECK: | Operation does not verify: launch.delta: expected value heads a multiple of the key heads, got 4 over 3 of 32 values
func.func @delta_of_heads_that_do_not_group(%q: memref<1x64xf32>, %k: memref<1x64xf32>, %v: memref<1x128xf32>, %z: memref<1x128xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>, %s: memref<128x32xf32>, %n: memref<32xf32>, %y: memref<1x128xf32>) {
  launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>, z = %z : memref<1x128xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>, state = %s : memref<128x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>) {value_heads = 4 : i64, key_heads = 3 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
  func.return
}

// -----

// CHECK: sym_name = "delta_of_another_state"
// CHECK: | Operation does not verify: launch.delta state: expected (128, 32), got (64, 32)
func.func @delta_of_another_state(%q: memref<1x64xf32>, %k: memref<1x64xf32>, %v: memref<1x128xf32>, %z: memref<1x128xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>, %s: memref<64x32xf32>, %n: memref<32xf32>, %y: memref<1x128xf32>) {
  launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>, z = %z : memref<1x128xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>, state = %s : memref<64x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>) {value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
  func.return
}

// -----

// CHECK: sym_name = "delta_of_other_gates"
// CHECK: | Operation does not verify: launch.delta beta: expected (1, 4), got (1, 2)
func.func @delta_of_other_gates(%q: memref<1x64xf32>, %k: memref<1x64xf32>, %v: memref<1x128xf32>, %z: memref<1x128xf32>, %b: memref<1x2xf32>, %d: memref<1x4xf32>, %s: memref<128x32xf32>, %n: memref<32xf32>, %y: memref<1x128xf32>) {
  launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>, z = %z : memref<1x128xf32>, beta = %b : memref<1x2xf32>, decay = %d : memref<1x4xf32>, state = %s : memref<128x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>) {value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
  func.return
}

// -----

// CHECK: sym_name = "gates_of_other_heads"
// CHECK: | Operation does not verify: launch.gates b: expected (1, 4), got (1, 2)
func.func @gates_of_other_heads(%b: memref<1x2xf32>, %a: memref<1x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %x: memref<1x4xf32>, %y: memref<1x4xf32>) {
  launch.gates(b = %b : memref<1x2xf32>, a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %x : memref<1x4xf32>, decay = %y : memref<1x4xf32>) covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "gates_of_another_bias"
// CHECK: | Operation does not verify: launch.gates dt_bias: expected memref<4xf32>, got memref<2xf32>
func.func @gates_of_another_bias(%b: memref<1x4xf32>, %a: memref<1x4xf32>, %dt: memref<2xf32>, %al: memref<4xf32>, %x: memref<1x4xf32>, %y: memref<1x4xf32>) {
  launch.gates(b = %b : memref<1x4xf32>, a = %a : memref<1x4xf32>, dt_bias = %dt : memref<2xf32>, a_log = %al : memref<4xf32>, beta = %x : memref<1x4xf32>, decay = %y : memref<1x4xf32>) covers [5, 6]
  func.return
}

// -----

// CHECK: sym_name = "gate_proj_of_other_inputs"
// CHECK: | Operation does not verify: launch.gate_proj wb: inputs: expected 64, got 128
func.func @gate_proj_of_other_inputs(%x: memref<1x64xf32>, %wb: memref<128x4xf32>, %wa: memref<128x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>) {
  launch.gate_proj(x = %x : memref<1x64xf32>, wb = %wb : memref<128x4xf32>, wa = %wa : memref<128x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>) covers [3, 4, 5, 6]
  func.return
}

// -----

// CHECK: sym_name = "gate_proj_of_two_matrices"
// CHECK: | Operation does not verify: launch.gate_proj wa: expected (128, 4), got (128, 2)
func.func @gate_proj_of_two_matrices(%x: memref<1x128xf32>, %wb: memref<128x4xf32>, %wa: memref<128x2xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>) {
  launch.gate_proj(x = %x : memref<1x128xf32>, wb = %wb : memref<128x4xf32>, wa = %wa : memref<128x2xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>) covers [3, 4, 5, 6]
  func.return
}
