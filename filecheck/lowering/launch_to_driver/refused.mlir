// RUN: lanelink-opt %s --split-input-file --verify-diagnostics -p plan-buffers,lower-to-driver | filecheck %s

// fold_of_other_parts
// CHECK: lower-to-driver fold(gather, rope): launch.fold: expected gemv, gather or moe and norm; moe, binary and norm; gemv or moe and binary; gemv or gemm_parts and rope or rope_parts; a norm before a gemv, gemm_parts, gemv_glu or moe; or rope_parts and attention, got gather, rope
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x64>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %y = launch.alloc : memref<1x64xf32>
  %z = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %token : memref<1xi32>, out = %y : memref<1x64xf32>) covers [0]
    launch.rope(x = %y : memref<1x64xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %z : memref<1x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [1]
  }
  func.return
}

// -----

// norm_of_another_buffer
// CHECK: lower-to-driver fold(gemv, norm): launch.fold norm x: expected the rows of the part before it, got another buffer
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %r: memref<1x64xf32> {tgraph.state = "r"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %r : memref<1x64xf32>, add = %o : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// norm_of_parts_of_rows
// CHECK: launch.fold norm cols: expected whole rows of 64 values, got 32
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<32xf32>
  %o = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, w = %n : memref<32xf32>, out = %y : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// turned_product_with_another_reader
// CHECK: launch.fold turned product: expected a rotation as its only reader, got another reader
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %s: memref<1x64xf32> {tgraph.state = "s"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %q = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [0]
    launch.rope(x = %q : memref<1x64xf32>, cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [1]
  }
  launch.copy(x = %q : memref<1x64xf32>, out = %s : memref<1x64xf32>) covers []
  func.return
}

// -----

// rotation_of_another_buffer
// CHECK: launch.fold rotation x: expected a product of the fold, got 1 other buffers
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %s: memref<1x64xf32> {tgraph.state = "s"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], scale 1.0> : memref<256x16xf32>
  %q = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  %z = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [0]
    launch.rope_parts(cos = %cos : memref<256x16xf32>, sin = %sin : memref<256x16xf32>, position = %position : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, out = %y : memref<1x64xf32>) {heads = 2 : i64} covers [1]
      launch.rope_side(x = %s : memref<1x64xf32>, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [2]
    }
  }
  func.return
}

// -----

// heads_of_six
// CHECK: lower-to-driver attention: attention key head: expected a multiple of 4 values, got 6
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x12xf32> {tgraph.state = "q"},
  %k: memref<256x6xf32> {tgraph.state = "k"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x12xf32>
  launch.attention(q = %q : memref<1x12xf32>, keys = %k : memref<256x6xf32>, values = %k : memref<256x6xf32>, position = %position : memref<1xi32>, out = %y : memref<1x12xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 6 : i64, value_dim = 6 : i64, scale = 1.0 : f32} covers [0]
  func.return
}

// -----

// keys_turned_at_another_row
// CHECK: lower-to-driver fold(rope_parts, attention): launch.fold rotation: expected keys set and turned at the attention's position, got another
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %n: memref<1x32xf32> {tgraph.state = "n"},
  %k: memref<256x32xf32> {tgraph.state = "k"},
  %v: memref<256x32xf32> {tgraph.state = "v"}) attributes {launch.lifted = 4 : i64} {
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<256x16xf32>
  %r = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.rope_parts(cos = %c : memref<256x16xf32>, sin = %c : memref<256x16xf32>, position = %position : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64} covers [0]
      launch.rope_side(x = %n : memref<1x32xf32>, out = %k : memref<256x32xf32>, at = %token : memref<1xi32>) {heads = 1 : i64} covers [1, 2]
    }
    launch.attention(q = %r : memref<1x64xf32>, keys = %k : memref<256x32xf32>, values = %v : memref<256x32xf32>, position = %position : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  }
  func.return
}

// -----

// settled_tables_that_are_not
// CHECK: lower-to-driver attention: launch.attention settled: expected tables of the step, set at no row but its position ahead of it, got others
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %n: memref<1x32xf32> {tgraph.state = "n"},
  %k: memref<256x32xf32> {tgraph.state = "k"},
  %v: memref<256x32xf32> {tgraph.state = "v"}) attributes {launch.lifted = 2 : i64} {
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<256x16xf32>
  %r = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.set_row(source = %n : memref<1x32xf32>, out = %k : memref<256x32xf32>, at = %token : memref<1xi32>) covers [0]
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<256x32xf32>, values = %v : memref<256x32xf32>, position = %position : memref<1xi32>, out = %y : memref<1x64xf32>) {settled, heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [1]
  func.return
}

// -----

// argument_without_a_meaning
// CHECK: lower-to-driver argument 1: expected a token, position or state, got neither
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32>) attributes {launch.lifted = 0 : i64} {
  func.return
}

// -----

// turned_twice
// CHECK: launch.fold rotation x: expected another product for each of its sides, got one turned twice
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 16x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %q = launch.alloc : memref<1x16xf32>
  %y = launch.alloc : memref<1x16xf32>
  %z = launch.alloc : memref<1x16xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 16x64, transposed>, out = %q : memref<1x16xf32>) covers [0]
    launch.rope_parts(cos = %cos : memref<64x2xf32>, sin = %sin : memref<64x2xf32>, position = %position : memref<1xi32>) attributes {head_dim = 8 : i64, half = 2 : i64} {
      launch.rope_side(x = %q : memref<1x16xf32>, out = %y : memref<1x16xf32>) {heads = 2 : i64} covers [1]
      launch.rope_side(x = %q : memref<1x16xf32>, out = %z : memref<1x16xf32>) {heads = 2 : i64} covers [2]
    }
  }
  func.return
}

// -----

// turned_product_that_is_quantized
// CHECK: launch.fold turned product: expected f32 rows, got a quantized form
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %q = launch.alloc : memref<1x32xf32>
  %q8 = launch.alloc : !tgraph.q8<1x32>
  %y = launch.alloc : memref<1x32xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %q : memref<1x32xf32>, quant = %q8 : !tgraph.q8<1x32>) covers [0]
    launch.rope(x = %q : memref<1x32xf32>, cos = %cos : memref<64x2xf32>, sin = %sin : memref<64x2xf32>, position = %position : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 4 : i64, head_dim = 8 : i64, half = 2 : i64} covers [1]
  }
  func.return
}

// -----

// part_of_a_product_turned
// CHECK: launch.fold turned product: expected all of its values turned, got units of them
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %q = launch.alloc : memref<1x32xf32>
  %y = launch.alloc : memref<1x16xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 32x64, transposed>, out = %q : memref<1x32xf32>) covers [0]
    launch.rope(x = %q : memref<1x32xf32>, cos = %cos : memref<64x2xf32>, sin = %sin : memref<64x2xf32>, position = %position : memref<1xi32>, out = %y : memref<1x16xf32>) {heads = 2 : i64, head_dim = 8 : i64, half = 2 : i64, x_pitch = 16 : i64, x_offset = 8 : i64} covers [1]
  }
  func.return
}

// -----

// turned_product_in_units
// CHECK: launch.fold turned product: expected rows in a buffer of their own, got rows or units of another
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 16x64, transposed>
  %cos = launch.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %sin = launch.constant #tgraph.rope_table<sin, [1.0, 0.5], scale 1.0> : memref<64x2xf32>
  %q = launch.alloc : memref<1x32xf32>
  %y = launch.alloc : memref<1x32xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 16x64, transposed>, out = %q : memref<1x32xf32>) {unit_pitch = 32 : i64, unit_offset = 16 : i64} covers [0]
    launch.rope(x = %q : memref<1x32xf32>, cos = %cos : memref<64x2xf32>, sin = %sin : memref<64x2xf32>, position = %position : memref<1xi32>, out = %y : memref<1x32xf32>) {heads = 4 : i64, head_dim = 8 : i64, half = 2 : i64} covers [1]
  }
  func.return
}

// -----

// norm_of_units_of_a_product
// CHECK: launch.fold norm x: expected the rows of the part before it, got units of them
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32, x_pitch = 64 : i64, x_offset = 0 : i64} covers [1]
  }
  func.return
}

// -----

// product_in_units_normed
// CHECK: launch.fold product: expected f32 rows in a buffer of their own, got another result
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %x: memref<1x64xf32> {tgraph.state = "x"}) attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 48x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 48x64, transposed>, out = %o : memref<1x64xf32>) {unit_pitch = 64 : i64, unit_offset = 16 : i64} covers [0]
    launch.norm(x = %o : memref<1x64xf32>, w = %n : memref<64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// -----

// more_rows_than_an_index_names
// CHECK: lower-to-driver gather: kernel argument: expected a whole number of 32 bits, got 4294967296
func.func @step(
  %token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 1 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 4294967296x64>
  %y = launch.alloc : memref<1x64xf32>
  launch.gather(table = %e : !tgraph.rows<bf16, 4294967296x64>, index = %token : memref<1xi32>, out = %y : memref<1x64xf32>) covers [0]
  func.return
}
