// RUN: lanelink-opt %s -p schedule-rotations --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-rotations,schedule-rotations --split-input-file | filecheck %s

// Queries and keys are stored as they come of their products; the attention turns them, and sets the keys.
// CHECK-LABEL: func.func @moves
// CHECK: launch.fold() {
// CHECK-NEXT: launch.norm(x = %x {{.*}} covers [0]
// CHECK-NEXT: launch.gemm_parts(x = %h : memref<1x64xf32>) {
// CHECK-NEXT: launch.gemm_part(w = %wq {{.*}}, out = %q : memref<1x64xf32>) covers [1]
// CHECK-NEXT: launch.gemm_part(w = %wk {{.*}}, out = %k : memref<1x32xf32>) covers [2]
// CHECK-NEXT: launch.gemm_part(w = %wv {{.*}}, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %o = launch.alloc
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
// CHECK-NEXT: launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {{.*}} covers [5, 6]
// CHECK-NEXT: launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {{.*}} covers [7, 8]
// CHECK-NEXT: }
// CHECK-NEXT: launch.attention(q = %r : memref<1x64xf32>, keys = %kt {{.*}} covers [9]
// CHECK-NEXT: }
// CHECK-NEXT: launch.unary(x = %o
func.func @moves(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 11 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  launch.unary(x = %o : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [10]
  func.return
}

// -----

// Another launch reads the turned queries.
// CHECK-LABEL: func.func @the_queries_are_read_elsewhere
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @the_queries_are_read_elsewhere(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 11 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  launch.unary(x = %r : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [10]
  func.return
}

// -----

// Another launch reads the table of keys, through a view.
// CHECK-LABEL: func.func @the_keys_are_read_elsewhere
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @the_keys_are_read_elsewhere(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 11 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  %row = launch.view %kt offset 0 covers [] : memref<16x32xf32> -> memref<1x64xf32>
  launch.unary(x = %row : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [10]
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Another launch reads a product before it is turned.
// CHECK-LABEL: func.func @what_is_turned_is_read_elsewhere
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @what_is_turned_is_read_elsewhere(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 11 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  launch.unary(x = %q : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [10]
  func.return
}

// -----

// The position is another one where the attention runs.
// CHECK-LABEL: func.func @the_position_moves
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @the_position_moves(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 11 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.advance(x = %token : memref<1xi32>, out = %p : memref<1xi32>) {by = 1 : i64} covers [10]
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Keys land at a row that is not the position.
// CHECK-LABEL: func.func @keys_at_another_row
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @keys_at_another_row(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %token : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Heads turn by a row that is not the position.
// CHECK-LABEL: func.func @turned_by_another_position
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @turned_by_another_position(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %token : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// The rotation's tables are no constants.
// CHECK-LABEL: func.func @tables_that_are_computed
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @tables_that_are_computed(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.alloc : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Values lie in the key rows, which the launch sets.
// CHECK-LABEL: func.func @values_in_key_rows
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @values_in_key_rows(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<1x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x64xf32>
  launch.attention(q = %r : memref<1x64xf32>, keys = %kt : memref<16x32xf32>, values = %kt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// The queries land in a row of a table.
// CHECK-LABEL: func.func @queries_in_a_table
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @queries_in_a_table(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x64xf32>
  %k = launch.alloc : memref<1x32xf32>
  %r = launch.alloc : memref<2x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<1x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<1x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<2x64xf32>) {row = 0 : i64, heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<2x64xf32>
  launch.attention(q = %r : memref<2x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<2x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// A step of nine rows: more keys than a block has warps.
// CHECK-LABEL: func.func @nine_rows
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @nine_rows(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<9x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<9x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<9x64xf32>
  %q = launch.alloc : memref<9x64xf32>
  %k = launch.alloc : memref<9x32xf32>
  %r = launch.alloc : memref<9x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<9x64xf32>, out = %h : memref<9x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<9x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<9x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<9x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<9x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<9x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<9x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<9x64xf32>
  launch.attention(q = %r : memref<9x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<9x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Of eight rows each has one.
// CHECK-LABEL: func.func @eight_rows
// CHECK: launch.fold() {
// CHECK: launch.fold() {
// CHECK-NEXT: launch.rope_parts(
func.func @eight_rows(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<8x64xf32>,
    %kt: memref<16x32xf32> {tgraph.state = "keys"}, %vt: memref<16x32xf32> {tgraph.state = "values"},
    %y: memref<8x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 64x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 32x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 32x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<8x64xf32>
  %q = launch.alloc : memref<8x64xf32>
  %k = launch.alloc : memref<8x32xf32>
  %r = launch.alloc : memref<8x64xf32>
  launch.fold() {
    launch.norm(x = %x : memref<8x64xf32>, out = %h : memref<8x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<8x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 64x64, transposed>, out = %q : memref<8x64xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 32x64, transposed>, out = %k : memref<8x32xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 32x64, transposed>, out = %vt : memref<16x32xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<8x64xf32>, norm = %g : memref<32xf32>, out = %r : memref<8x64xf32>) {heads = 2 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<8x32xf32>, out = %kt : memref<16x32xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<8x64xf32>
  launch.attention(q = %r : memref<8x64xf32>, keys = %kt : memref<16x32xf32>, values = %vt : memref<16x32xf32>, position = %p : memref<1xi32>, out = %o : memref<8x64xf32>) {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}

// -----

// Heads of 288 values.
// CHECK-LABEL: func.func @wide_heads
// CHECK: covers [3, 4]
// CHECK-NEXT: }
// CHECK-NEXT: launch.rope_parts(
func.func @wide_heads(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %x: memref<1x64xf32>,
    %kt: memref<16x288xf32> {tgraph.state = "keys"}, %vt: memref<16x288xf32> {tgraph.state = "values"},
    %y: memref<1x64xf32>) attributes {launch.lifted = 10 : i64} {
  %wq = launch.constant #tgraph.checkpoint<"q"> : !tgraph.rows<bf16, 288x64, transposed>
  %wk = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<bf16, 288x64, transposed>
  %wv = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 288x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<288xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<16x8xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<16x8xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : memref<1x288xf32>
  %k = launch.alloc : memref<1x288xf32>
  %r = launch.alloc : memref<1x288xf32>
  launch.fold() {
    launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
    launch.gemm_parts(x = %h : memref<1x64xf32>) {
      launch.gemm_part(w = %wq : !tgraph.rows<bf16, 288x64, transposed>, out = %q : memref<1x288xf32>) covers [1]
      launch.gemm_part(w = %wk : !tgraph.rows<bf16, 288x64, transposed>, out = %k : memref<1x288xf32>) covers [2]
      launch.gemm_part(w = %wv : !tgraph.rows<bf16, 288x64, transposed>, out = %vt : memref<16x288xf32>, at = %p : memref<1xi32>) covers [3, 4]
    }
    launch.rope_parts(cos = %c : memref<16x8xf32>, sin = %s : memref<16x8xf32>, position = %p : memref<1xi32>) attributes {head_dim = 288 : i64, half = 8 : i64} {
      launch.rope_side(x = %q : memref<1x288xf32>, norm = %g : memref<288xf32>, out = %r : memref<1x288xf32>) {heads = 1 : i64, norm_eps = 1.000000e-06 : f32} covers [5, 6]
      launch.rope_side(x = %k : memref<1x288xf32>, out = %kt : memref<16x288xf32>, at = %p : memref<1xi32>) {heads = 1 : i64} covers [7, 8]
    }
  }
  %o = launch.alloc : memref<1x288xf32>
  launch.attention(q = %r : memref<1x288xf32>, keys = %kt : memref<16x288xf32>, values = %vt : memref<16x288xf32>, position = %p : memref<1xi32>, out = %o : memref<1x288xf32>) {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 288 : i64, value_dim = 288 : i64, scale = 0.176776695 : f32} covers [9]
  func.return
}
