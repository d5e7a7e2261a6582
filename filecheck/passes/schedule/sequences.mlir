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
// into the same row; one that is quantized as well.
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

// -----

// Two sequences' heads are turned, the keys straight into their tables, by tables that both read; a third's turn by
// tables of their own, and a fourth's land at a row that is fixed.
// CHECK-LABEL: func.func @rotations
// CHECK-NEXT: %b = launch.view %b0 offset 32
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT: launch.rope_parts(cos = %c : {{.*}}, position = %p : {{.*}}) {{.*}} {
// CHECK-NEXT: launch.rope_side(x = %a : {{.*}}, out = %u : {{.*}} covers [0]
// CHECK-NEXT: launch.rope_side(x = %a : {{.*}}, out = %s : {{.*}}, at = %p : {{.*}} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(cos = %c : {{.*}}, position = %q : {{.*}}) {{.*}} {
// CHECK-NEXT: launch.rope_side(x = %b : {{.*}}, out = %v : {{.*}} covers [2]
// CHECK-NEXT: launch.rope_side(x = %b : {{.*}}, out = %t : {{.*}}, at = %q : {{.*}} covers [3]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(cos = %d : {{.*}} {
// CHECK: covers [5]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(cos = %c : {{.*}} {
// CHECK: {row = 2 : i64, heads = 1 : i64} covers [7]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @rotations(%token: memref<1xi32> {tgraph.token}, %a: memref<1x32xf32>, %b0: memref<2x32xf32>, %c: memref<8x16xf32>, %d: memref<8x16xf32>, %p: memref<1xi32>, %q: memref<1xi32>,
                     %s: memref<8x32xf32>, %t: memref<8x32xf32>, %u: memref<1x32xf32>, %v: memref<1x32xf32>, %w: memref<1x32xf32>, %x: memref<1x32xf32>,
                     %y: memref<8x32xf32>, %z: memref<8x32xf32>) attributes {launch.lifted = 8 : i64} {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %a : memref<1x32xf32>, out = %u : memref<1x32xf32>) {heads = 1 : i64} covers [0]
    launch.rope_side(x = %a : memref<1x32xf32>, out = %s : memref<8x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [1]
  }
  %b = launch.view %b0 offset 32 covers [] : memref<2x32xf32> -> memref<1x32xf32>
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %q : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %b : memref<1x32xf32>, out = %v : memref<1x32xf32>) {heads = 1 : i64} covers [2]
    launch.rope_side(x = %b : memref<1x32xf32>, out = %t : memref<8x32xf32>, at = %q : memref<1xi32>) {heads = 1 : i64} covers [3]
  }
  launch.rope_parts(cos = %d : memref<8x16xf32>, sin = %d : memref<8x16xf32>, position = %q : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %b : memref<1x32xf32>, out = %w : memref<1x32xf32>) {heads = 1 : i64} covers [4]
    launch.rope_side(x = %b : memref<1x32xf32>, out = %y : memref<8x32xf32>, at = %q : memref<1xi32>) {heads = 1 : i64} covers [5]
  }
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %q : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %b : memref<1x32xf32>, out = %x : memref<1x32xf32>) {heads = 1 : i64} covers [6]
    launch.rope_side(x = %b : memref<1x32xf32>, out = %z : memref<8x32xf32>) {row = 2 : i64, heads = 1 : i64} covers [7]
  }
  func.return
}

// -----

// Two sequences' convolutions, then their delta rules, over rings and states of their own; the rule of a sequence whose
// state another's launch has moved on waits for it. Then rows set with their quantized form.
// CHECK-LABEL: func.func @linear
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.conv_parts() {
// CHECK-NEXT: launch.conv_part({{.*}}ring = %r : {{.*}} covers [0]
// CHECK-NEXT: launch.conv_part({{.*}}ring = %s : {{.*}} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: launch.conv_parts() {
// CHECK-NEXT: launch.conv_part({{.*}}ring = %t : {{.*}} covers [3]
// CHECK-NEXT: launch.conv_part({{.*}}ring = %u : {{.*}} covers [4]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT: launch.delta(q = %a : {{.*}}, state = %m : {{.*}} covers [2]
// CHECK-NEXT: launch.delta(q = %c : {{.*}}, state = %n : {{.*}} covers [5]
// CHECK-NEXT: }
// CHECK-NEXT: launch.delta(q = %c : {{.*}}, state = %m : {{.*}} covers [6]
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT: launch.set_row(source = %e : {{.*}}, quant = %o : !tgraph.q8<2x32>) {row = 0 : i64} covers [7]
// CHECK-NEXT: launch.set_row(source = %f : {{.*}}, quant = %o : !tgraph.q8<2x32>) {row = 1 : i64} covers [8]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @linear(%token: memref<1xi32> {tgraph.token}, %x: memref<1x32xf32>, %w: memref<32x2xf32>, %r: memref<1x32xf32>, %s: memref<1x32xf32>, %t: memref<1x32xf32>, %u: memref<1x32xf32>,
                  %a: memref<1x32xf32>, %b: memref<1x32xf32>, %c: memref<1x32xf32>, %d: memref<1x32xf32>, %g: memref<1x1xf32>, %n1: memref<32xf32>,
                  %m: memref<32x32xf32>, %n: memref<32x32xf32>, %e: memref<1x32xf32>, %f: memref<1x32xf32>, %h: memref<1x32xf32>, %o: !tgraph.q8<2x32>) attributes {launch.lifted = 9 : i64} {
  launch.conv_parts() {
    launch.conv_part(x = %x : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %r : memref<1x32xf32>, out = %a : memref<1x32xf32>) covers [0]
    launch.conv_part(x = %x : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %s : memref<1x32xf32>, out = %b : memref<1x32xf32>) covers [1]
  }
  launch.delta(q = %a : memref<1x32xf32>, k = %a : memref<1x32xf32>, v = %b : memref<1x32xf32>, z = %x : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
    state = %m : memref<32x32xf32>, norm_weight = %n1 : memref<32xf32>, out = %e : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [2]
  launch.conv_parts() {
    launch.conv_part(x = %x : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %t : memref<1x32xf32>, out = %c : memref<1x32xf32>) covers [3]
    launch.conv_part(x = %x : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %u : memref<1x32xf32>, out = %d : memref<1x32xf32>) covers [4]
  }
  launch.delta(q = %c : memref<1x32xf32>, k = %c : memref<1x32xf32>, v = %d : memref<1x32xf32>, z = %x : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
    state = %n : memref<32x32xf32>, norm_weight = %n1 : memref<32xf32>, out = %f : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [5]
  launch.delta(q = %c : memref<1x32xf32>, k = %c : memref<1x32xf32>, v = %d : memref<1x32xf32>, z = %x : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
    state = %m : memref<32x32xf32>, norm_weight = %n1 : memref<32xf32>, out = %h : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [6]
  launch.set_row(source = %e : memref<1x32xf32>, quant = %o : !tgraph.q8<2x32>) {row = 0 : i64} covers [7]
  launch.set_row(source = %f : memref<1x32xf32>, quant = %o : !tgraph.q8<2x32>) {row = 1 : i64} covers [8]
  func.return
}

// -----

// Rows of one tensor: each sequence's heads are turned into its row of %q, read from there, and attended with into its
// row of %y. All rotations are one launch, and all attentions; a rotation over a row that one has read comes after.
// CHECK-LABEL: func.func @rows_of_one_tensor
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.rope({{.*}}, position = %p : {{.*}}, out = %q : {{.*}} covers [0]
// CHECK-NEXT: launch.rope({{.*}}, position = %p1 : {{.*}}, out = %q : {{.*}} covers [3]
// CHECK-NEXT: }
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.attention(q = %q0 : {{.*}} covers [2]
// CHECK-NEXT: launch.attention(q = %q1 : {{.*}} covers [5]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope({{.*}}, position = %p : {{.*}}, out = %q : {{.*}} covers [6]
// CHECK-NEXT: func.return
func.func @rows_of_one_tensor(%token: memref<2xi32> {tgraph.token}, %x: memref<2x32xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %p1: memref<1xi32>, %q: memref<2x32xf32>,
                              %k: memref<8x32xf32>, %l: memref<8x32xf32>, %y: memref<2x32xf32>) attributes {launch.lifted = 7 : i64} {
  %x0 = launch.view %x offset 0 covers [] : memref<2x32xf32> -> memref<1x32xf32>
  launch.rope(x = %x0 : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %q : memref<2x32xf32>)
    {row = 0 : i64, heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  %q0 = launch.view %q offset 0 covers [1] : memref<2x32xf32> -> memref<1x32xf32>
  launch.attention(q = %q0 : memref<1x32xf32>, keys = %k : memref<8x32xf32>, values = %k : memref<8x32xf32>, position = %p : memref<1xi32>, out = %y : memref<2x32xf32>)
    {row = 0 : i64, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [2]
  %x1 = launch.view %x offset 32 covers [] : memref<2x32xf32> -> memref<1x32xf32>
  launch.rope(x = %x1 : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p1 : memref<1xi32>, out = %q : memref<2x32xf32>)
    {row = 1 : i64, heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64} covers [3]
  %q1 = launch.view %q offset 32 covers [4] : memref<2x32xf32> -> memref<1x32xf32>
  launch.attention(q = %q1 : memref<1x32xf32>, keys = %l : memref<8x32xf32>, values = %l : memref<8x32xf32>, position = %p1 : memref<1xi32>, out = %y : memref<2x32xf32>)
    {row = 1 : i64, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [5]
  launch.rope(x = %x0 : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %q : memref<2x32xf32>)
    {row = 0 : i64, heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64} covers [6]
  func.return
}

// -----

// Delta rules whose results are views of one tensor.
// CHECK-LABEL: func.func @views_of_one_tensor
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.delta({{.*}}, state = %m : {{.*}}, out = %y0 : {{.*}} covers [1]
// CHECK-NEXT: launch.delta({{.*}}, state = %n : {{.*}}, out = %y1 : {{.*}} covers [2]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @views_of_one_tensor(%token: memref<1xi32> {tgraph.token}, %x: memref<1x32xf32>, %g: memref<1x1xf32>, %w: memref<32xf32>, %m: memref<32x32xf32>, %n: memref<32x32xf32>,
                               %y: memref<2x32xf32>) attributes {launch.lifted = 3 : i64} {
  %y0 = launch.view %y offset 0 covers [0] : memref<2x32xf32> -> memref<1x32xf32>
  launch.delta(q = %x : memref<1x32xf32>, k = %x : memref<1x32xf32>, v = %x : memref<1x32xf32>, z = %x : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
    state = %m : memref<32x32xf32>, norm_weight = %w : memref<32xf32>, out = %y0 : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [1]
  %y1 = launch.view %y offset 32 covers [] : memref<2x32xf32> -> memref<1x32xf32>
  launch.delta(q = %x : memref<1x32xf32>, k = %x : memref<1x32xf32>, v = %x : memref<1x32xf32>, z = %x : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
    state = %n : memref<32x32xf32>, norm_weight = %w : memref<32xf32>, out = %y1 : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [2]
  func.return
}

// -----

// Rows set into tables of f16, and attentions over them.
// CHECK-LABEL: func.func @tables_of_f16
// CHECK: launch.sequences() {
// CHECK-NEXT: launch.set_row({{.*}}, out = %s : memref<8x64xf16>, at = %p : {{.*}} covers [0]
// CHECK-NEXT: launch.set_row({{.*}}, out = %t : memref<8x64xf16>, at = %q : {{.*}} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT: launch.attention({{.*}}, keys = %s : {{.*}} covers [2]
// CHECK-NEXT: launch.attention({{.*}}, keys = %t : {{.*}} covers [3]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @tables_of_f16(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %q: memref<1xi32> {tgraph.state = "q"},
                %a: memref<1x64xf32> {tgraph.state = "a"}, %b: memref<1x64xf32> {tgraph.state = "b"},
                %s: memref<8x64xf16> {tgraph.state = "s"}, %t: memref<8x64xf16> {tgraph.state = "t"},
                %x: memref<1x64xf32> {tgraph.state = "x"}, %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 4 : i64} {
    launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<8x64xf16>, at = %p : memref<1xi32>) covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf16>, at = %q : memref<1xi32>) covers [1]
    launch.attention(q = %a : memref<1x64xf32>, keys = %s : memref<8x64xf16>, values = %s : memref<8x64xf16>, position = %p : memref<1xi32>, out = %x : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [2]
    launch.attention(q = %b : memref<1x64xf32>, keys = %t : memref<8x64xf16>, values = %t : memref<8x64xf16>, position = %q : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  func.return
}
