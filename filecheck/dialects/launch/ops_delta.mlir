// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

// Launches of linear attention.

// CHECK-LABEL: func.func @decay(
// CHECK-NEXT: launch.decay(a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, out = %y : memref<1x4xf32>) covers [3]
// CHECK-NEXT: func.return
func.func @decay(%a: memref<1x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %y: memref<1x4xf32>) {
  launch.decay(a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>,
  out = %y : memref<1x4xf32>) covers [3]
  func.return
}

// CHECK-LABEL: func.func @l2norm(
// CHECK-NEXT: launch.l2norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3]
// CHECK-NEXT: func.return
func.func @l2norm(%x: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.l2norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>)
  {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3]
  func.return
}

// CHECK-LABEL: func.func @conv(
// CHECK-NEXT: launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x4xf32>, ring = %r : memref<3x64xf32>, out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
// CHECK-NEXT: func.return
func.func @conv(%x: memref<1x64xf32>, %w: memref<64x4xf32>, %r: memref<3x64xf32>, %y: memref<1x64xf32>) {
  launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x4xf32>, ring = %r : memref<3x64xf32>,
  out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
  func.return
}

// CHECK-LABEL: func.func @conv_parts(
// CHECK-NEXT: launch.conv_parts() attributes {eps = 1.000000e-06 : f32} {
// CHECK-NEXT: launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>, out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5]
// CHECK-NEXT: launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>, out = %vc : memref<1x128xf32>) covers [6, 7]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @conv_parts(%q: memref<1x64xf32>, %wq: memref<64x4xf32>, %rq: memref<3x64xf32>, %qc: memref<1x64xf32>, %v: memref<1x128xf32>, %wv: memref<128x4xf32>, %rv: memref<3x128xf32>, %vc: memref<1x128xf32>) {
  launch.conv_parts() attributes {eps = 1.000000e-06 : f32} {
  launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>,
  out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5]
  launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>,
  out = %vc : memref<1x128xf32>) covers [6, 7]
  }
  func.return
}

// CHECK-LABEL: func.func @delta(
// CHECK-NEXT: launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>, z = %z : memref<1x128xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>, state = %s : memref<128x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>) {value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
// CHECK-NEXT: func.return
func.func @delta(%q: memref<1x64xf32>, %k: memref<1x64xf32>, %v: memref<1x128xf32>, %z: memref<1x128xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>, %s: memref<128x32xf32>, %n: memref<32xf32>, %y: memref<1x128xf32>) {
  launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>,
  z = %z : memref<1x128xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>,
  state = %s : memref<128x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>)
  {value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
  func.return
}

// CHECK-LABEL: func.func @gates(
// CHECK-NEXT: launch.gates(b = %b : memref<1x4xf32>, a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %x : memref<1x4xf32>, decay = %y : memref<1x4xf32>) covers [5, 6]
// CHECK-NEXT: func.return
func.func @gates(%b: memref<1x4xf32>, %a: memref<1x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %x: memref<1x4xf32>, %y: memref<1x4xf32>) {
  launch.gates(b = %b : memref<1x4xf32>, a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>,
  a_log = %al : memref<4xf32>, beta = %x : memref<1x4xf32>, decay = %y : memref<1x4xf32>) covers [5, 6]
  func.return
}

// CHECK-LABEL: func.func @gate_proj(
// CHECK-NEXT: launch.gate_proj(x = %x : memref<1x128xf32>, wb = %wb : memref<128x4xf32>, wa = %wa : memref<128x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>) covers [3, 4, 5, 6]
// CHECK-NEXT: func.return
func.func @gate_proj(%x: memref<1x128xf32>, %wb: memref<128x4xf32>, %wa: memref<128x4xf32>, %dt: memref<4xf32>, %al: memref<4xf32>, %b: memref<1x4xf32>, %d: memref<1x4xf32>) {
  launch.gate_proj(x = %x : memref<1x128xf32>, wb = %wb : memref<128x4xf32>, wa = %wa : memref<128x4xf32>,
  dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %b : memref<1x4xf32>,
  decay = %d : memref<1x4xf32>) covers [3, 4, 5, 6]
  func.return
}
