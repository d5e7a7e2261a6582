// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver' --split-input-file | filecheck %s

// CHECK: driver.launch @elementwise::@copy_sequences(%a, %s, %p, %b, %t, %q, null, {{.*}}, 64 : i32, null, 0 : i32, 64 : i32, 0 : i32, 64 : i32, 1 : i32) grid (1, 1, 2) block (256, 1, 1) covers [0, 1] {label = "2 set_row"}
// CHECK: driver.launch @attention_64::@attention_64_sequences(%a, %s, %s, %p, null, %x, null, 0 : i32, %b, %t, %t, %q, null, %y, null, 0 : i32, null, {{.*}}) grid (2, 1, 2) block (256, 1, 1) shared {{.*}} covers [2, 3] {label = "2 attention"}
func.func @step(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %q: memref<1xi32> {tgraph.state = "q"},
                %a: memref<1x64xf32> {tgraph.state = "a"}, %b: memref<1x64xf32> {tgraph.state = "b"},
                %s: memref<8x64xf32> {tgraph.state = "s"}, %t: memref<8x64xf32> {tgraph.state = "t"},
                %x: memref<1x64xf32> {tgraph.state = "x"}, %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 4 : i64} {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %q : memref<1xi32>) covers [1]
  }
  launch.sequences() {
    launch.attention(q = %a : memref<1x64xf32>, keys = %s : memref<8x64xf32>, values = %s : memref<8x64xf32>, position = %p : memref<1xi32>, out = %x : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [2]
    launch.attention(q = %b : memref<1x64xf32>, keys = %t : memref<8x64xf32>, values = %t : memref<8x64xf32>, position = %q : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  }
  func.return
}

// -----

// Each sequence's position and sides come first, eight times; then the tables, sizes and norms that all share.
// CHECK: driver.launch @rows::@rope_sequences(%p, %a, %x, null, %a, %s, %p, null, null, null, null, null, null, %q, %b, %y, null, %b, %t, %q, null, {{.*}}, %c, %c, 32 : i32, 16 : i32, 1 : i32, 32 : i32, 32 : i32, 32 : i32, 32 : i32, 1 : i32, 1 : i32, %n, {{.*}}) grid (1, 1, 2) block (128, 1, 1) covers [0, 1, 2, 3] {label = "2 rope_parts"}
// CHECK: driver.launch @conv::@conv_sequences(%a, %r, %d, null, null, null, {{.*}}%b, %u, %e, null, {{.*}}, 1 : i32, 2 : i32, {{.*}}) grid (1, 1, 2) block (128, 1, 1) covers [4, 5] {label = "2 conv"}
// CHECK: driver.launch @delta::@delta_k4_sequences(%d, %d, %d, %a, %g, %g, %k, %x, null, %e, %e, %e, %b, %g, %g, %l, %y, null, null, {{.*}}) grid (2, 1, 2) block (128, 1, 1) covers [6, 7] {label = "2 delta"}
// CHECK: driver.launch @elementwise::@unary_sequences(%x, null, null, %o, 0 : i32, null, %y, null, null, %o, 1 : i32, null, null, {{.*}}, 1 : i32, 2 : i32) grid (1, 1, 2) block (32, 1, 1) covers [8, 9] {label = "2 set_row"}
func.func @step(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %q: memref<1xi32> {tgraph.state = "q"},
                %a: memref<1x32xf32> {tgraph.state = "a"}, %b: memref<1x32xf32> {tgraph.state = "b"},
                %c: memref<8x16xf32> {tgraph.state = "c"}, %n: memref<32xf32> {tgraph.state = "n"},
                %s: memref<8x32xf32> {tgraph.state = "s"}, %t: memref<8x32xf32> {tgraph.state = "t"},
                %x: memref<1x32xf32> {tgraph.state = "x"}, %y: memref<1x32xf32> {tgraph.state = "y"},
                %w: memref<32x2xf32> {tgraph.state = "w"}, %r: memref<1x32xf32> {tgraph.state = "r"}, %u: memref<1x32xf32> {tgraph.state = "u"},
                %g: memref<1x1xf32> {tgraph.state = "g"}, %k: memref<32x32xf32> {tgraph.state = "k"}, %l: memref<32x32xf32> {tgraph.state = "l"}) -> !tgraph.q8<2x32> attributes {launch.lifted = 10 : i64} {
  launch.sequences() {
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %a : memref<1x32xf32>, norm = %n : memref<32xf32>, out = %x : memref<1x32xf32>) {heads = 1 : i64, norm_eps = 1.0e-06 : f32} covers [0]
      launch.rope_side(x = %a : memref<1x32xf32>, out = %s : memref<8x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [1]
    }
    launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %q : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %b : memref<1x32xf32>, norm = %n : memref<32xf32>, out = %y : memref<1x32xf32>) {heads = 1 : i64, norm_eps = 1.0e-06 : f32} covers [2]
      launch.rope_side(x = %b : memref<1x32xf32>, out = %t : memref<8x32xf32>, at = %q : memref<1xi32>) {heads = 1 : i64} covers [3]
    }
  }
  %d = launch.alloc : memref<1x32xf32>
  %e = launch.alloc : memref<1x32xf32>
  launch.sequences() {
    launch.conv(x = %a : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %r : memref<1x32xf32>, out = %d : memref<1x32xf32>) {silu} covers [4]
    launch.conv(x = %b : memref<1x32xf32>, w = %w : memref<32x2xf32>, ring = %u : memref<1x32xf32>, out = %e : memref<1x32xf32>) {silu} covers [5]
  }
  launch.sequences() {
    launch.delta(q = %d : memref<1x32xf32>, k = %d : memref<1x32xf32>, v = %d : memref<1x32xf32>, z = %a : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
      state = %k : memref<32x32xf32>, norm_weight = %n : memref<32xf32>, out = %x : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [6]
    launch.delta(q = %e : memref<1x32xf32>, k = %e : memref<1x32xf32>, v = %e : memref<1x32xf32>, z = %b : memref<1x32xf32>, beta = %g : memref<1x1xf32>, decay = %g : memref<1x1xf32>,
      state = %l : memref<32x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x32xf32>) {value_heads = 1 : i64, key_heads = 1 : i64, head_dim = 32 : i64, eps = 1.0e-06 : f32} covers [7]
  }
  %o = launch.alloc : !tgraph.q8<2x32>
  launch.sequences() {
    launch.set_row(source = %x : memref<1x32xf32>, quant = %o : !tgraph.q8<2x32>) {row = 0 : i64} covers [8]
    launch.set_row(source = %y : memref<1x32xf32>, quant = %o : !tgraph.q8<2x32>) {row = 1 : i64} covers [9]
  }
  func.return %o : !tgraph.q8<2x32>
}

// -----

// Tables of f16 are set and read by entries of their own.
// CHECK: driver.launch @tables::@set_rows_f16_sequences(%a, %s, %p, %b, %t, %q, null, {{.*}}, 64 : i32, 64 : i32, 64 : i32) grid (1, 1, 2) block (256, 1, 1) covers [0, 1] {label = "2 set_row"}
// CHECK: driver.launch @attention_64_f16::@attention_64_f16_sequences(%a, %s, %s, %p, null, %x, null, 0 : i32, %b, %t, %t, %q, null, %y, null, 0 : i32, null, {{.*}}) grid (2, 1, 2) block (256, 1, 1) shared {{.*}} covers [2, 3] {label = "2 attention"}
func.func @step(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %q: memref<1xi32> {tgraph.state = "q"},
                %a: memref<1x64xf32> {tgraph.state = "a"}, %b: memref<1x64xf32> {tgraph.state = "b"},
                %s: memref<8x64xf16> {tgraph.state = "s"}, %t: memref<8x64xf16> {tgraph.state = "t"},
                %x: memref<1x64xf32> {tgraph.state = "x"}, %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 4 : i64} {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<8x64xf16>, at = %p : memref<1xi32>) covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf16>, at = %q : memref<1xi32>) covers [1]
  }
  launch.sequences() {
    launch.attention(q = %a : memref<1x64xf32>, keys = %s : memref<8x64xf16>, values = %s : memref<8x64xf16>, position = %p : memref<1xi32>, out = %x : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [2]
    launch.attention(q = %b : memref<1x64xf32>, keys = %t : memref<8x64xf16>, values = %t : memref<8x64xf16>, position = %q : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  }
  func.return
}
