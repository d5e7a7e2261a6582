// RUN: lanelink-opt %s | filecheck %s
// RUN: lanelink-opt %s | lanelink-opt | filecheck %s

// CHECK: func.func @rows_of_one_table
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT:   launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
// CHECK-NEXT:   launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 1 : i64} covers [1]
// CHECK-NEXT: }
func.func @rows_of_one_table(%a: memref<1x64xf32>, %b: memref<1x64xf32>, %t: memref<8x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 1 : i64} covers [1]
  }
  func.return
}

// CHECK: func.func @attentions
// CHECK-NEXT: launch.sequences() attributes {dependent} {
// CHECK-NEXT:   launch.attention(q = %a : memref<1x64xf32>, {{.*}}) {heads = 2 : i64, {{.*}}} covers [0]
// CHECK-NEXT:   launch.attention(q = %a : memref<1x64xf32>, {{.*}}) {heads = 2 : i64, {{.*}}} covers [1]
// CHECK-NEXT: }
func.func @attentions(%a: memref<1x64xf32>, %k: memref<8x64xf32>, %l: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() attributes {dependent} {
    launch.attention(q = %a : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [0]
    launch.attention(q = %a : memref<1x64xf32>, keys = %l : memref<8x64xf32>, values = %l : memref<8x64xf32>, position = %p : memref<1xi32>, out = %z : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [1]
  }
  func.return
}

// Members of several parts, and members that move states of their own on.
// CHECK: func.func @rotations
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT:   launch.rope_parts(cos = %c : {{.*}}, position = %p : {{.*}}) attributes {head_dim = 32 : i64, half = 16 : i64} {
// CHECK-NEXT:     launch.rope_side(x = %a : {{.*}}, out = %y : memref<1x64xf32>) {heads = 2 : i64} covers [0]
// CHECK-NEXT:     launch.rope_side(x = %k : {{.*}}, out = %s : memref<8x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [1, 2]
// CHECK-NEXT:   }
// CHECK-NEXT:   launch.rope_parts(cos = %c : {{.*}}, position = %q : {{.*}}) attributes {head_dim = 32 : i64, half = 16 : i64} {
// CHECK-NEXT:     launch.rope_side(x = %b : {{.*}}, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [3]
// CHECK-NEXT:     launch.rope_side(x = %l : {{.*}}, out = %t : memref<8x32xf32>, at = %q : memref<1xi32>) {heads = 1 : i64} covers [4, 5]
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @rotations(%a: memref<1x64xf32>, %k: memref<1x32xf32>, %b: memref<1x64xf32>, %l: memref<1x32xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %q: memref<1xi32>,
                     %y: memref<1x64xf32>, %s: memref<8x32xf32>, %z: memref<1x64xf32>, %t: memref<8x32xf32>) {
  launch.sequences() {
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %a : memref<1x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64} covers [0]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %s : memref<8x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [1, 2]
    }
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %q : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %b : memref<1x64xf32>, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [3]
      launch.rope_side(x = %l : memref<1x32xf32>, out = %t : memref<8x32xf32>, at = %q : memref<1xi32>) {heads = 1 : i64} covers [4, 5]
    }
  }
  func.return
}

// CHECK: func.func @convolutions
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT:   launch.conv(x = %a : {{.*}}, ring = %r : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [0]
// CHECK-NEXT:   launch.conv(x = %a : {{.*}}, ring = %s : memref<1x64xf32>, out = %z : memref<1x64xf32>) covers [1]
// CHECK-NEXT: }
func.func @convolutions(%a: memref<1x64xf32>, %w: memref<64x2xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() {
    launch.conv(x = %a : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %r : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [0]
    launch.conv(x = %a : memref<1x64xf32>, w = %w : memref<64x2xf32>, ring = %s : memref<1x64xf32>, out = %z : memref<1x64xf32>) covers [1]
  }
  func.return
}
