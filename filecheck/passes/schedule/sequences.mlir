// RUN: lanelink-opt %s -p schedule-sequences --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-sequences,schedule-sequences --split-input-file | filecheck %s

// Two sequences' rows and attentions, one after the other: each kind becomes one launch where its first stood, after the
// buffers and views that the later ones name.
// CHECK-LABEL: func.func @batch
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.set_row(source = %a : {{.*}}, out = %s : {{.*}}, at = %p : {{.*}}) covers [0]
// CHECK-NEXT: launch.set_row(source = %b : {{.*}}, out = %t : {{.*}}, at = %q : {{.*}}) covers [2]
// CHECK-NEXT: }
// CHECK: %w = launch.view %z offset 64
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.attention(q = %a : {{.*}}, keys = %s {{.*}} covers [1]
// CHECK-NEXT: launch.attention(q = %b : {{.*}}, keys = %t {{.*}}, out = %w : {{.*}} covers [3]
// CHECK-NEXT: }
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [4, 5]
func.func @batch(%token: memref<1xi32> {tgraph.token}, %a: memref<1x64xf32>, %b: memref<1x64xf32>, %p: memref<1xi32>, %q: memref<1xi32>,
                 %s: memref<8x64xf32>, %t: memref<8x64xf32>, %x: memref<2x64xf32>) attributes {launch.lifted = 6 : i64} {
  %o = launch.alloc : memref<2x64xf32>
  launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
  %v = launch.view %o offset 0 covers [] : memref<2x64xf32> -> memref<1x64xf32>
  launch.attention(q = %a : memref<1x64xf32>, keys = %s : memref<8x64xf32>, values = %s : memref<8x64xf32>, position = %p : memref<1xi32>, out = %v : memref<1x64xf32>)
    {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [1]
  launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %q : memref<1xi32>) covers [2]
  %z = launch.alloc : memref<2x64xf32>
  %w = launch.view %z offset 64 covers [] : memref<2x64xf32> -> memref<1x64xf32>
  launch.attention(q = %b : memref<1x64xf32>, keys = %t : memref<8x64xf32>, values = %t : memref<8x64xf32>, position = %q : memref<1xi32>, out = %w : memref<1x64xf32>)
    {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  launch.unary(x = %o : memref<2x64xf32>, out = %x : memref<2x64xf32>) {act = #launch<act silu>} covers [4, 5]
  func.return
}

// -----

// Not together: a set whose source the set before wrote; one of another width; one whose old rows are read between; two
// into the same row; one that would be quantized as well.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: launch.sequences
func.func @apart(%token: memref<1xi32> {tgraph.token}, %a: memref<1x64xf32>, %s: memref<1x64xf32>, %t: memref<1x64xf32>, %n: memref<1x32xf32>,
                 %m: memref<1x32xf32>, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %r: !tgraph.q8<1x64>, %u: memref<8x64xf32>, %k: memref<8x64xf32>) attributes {launch.lifted = 8 : i64} {
  launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<1x64xf32>) {row = 0 : i64} covers [0]
  launch.set_row(source = %s : memref<1x64xf32>, out = %t : memref<1x64xf32>) {row = 0 : i64} covers [1]
  launch.set_row(source = %n : memref<1x32xf32>, out = %m : memref<1x32xf32>) {row = 0 : i64} covers [2]
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [3]
  launch.set_row(source = %a : memref<1x64xf32>, out = %x : memref<1x64xf32>, quant = %r : !tgraph.q8<1x64>) {row = 0 : i64} covers [4]
  launch.set_row(source = %a : memref<1x64xf32>, out = %u : memref<8x64xf32>) {row = 3 : i64} covers [5]
  launch.unary(x = %u : memref<8x64xf32>, out = %k : memref<8x64xf32>) {act = #launch<act silu>} covers [6]
  launch.set_row(source = %a : memref<1x64xf32>, out = %u : memref<8x64xf32>) {row = 3 : i64} covers [7]
  func.return
}
