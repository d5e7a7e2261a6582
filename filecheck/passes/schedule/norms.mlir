// RUN: lanelink-opt %s -p schedule-norms --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-norms,schedule-norms --split-input-file | filecheck %s

// The sum stays with the product that it adds to; its norm goes to the products that read it, whichever form they have.
// CHECK-LABEL: func.func @moves
// CHECK: launch.gather({{.*}}, out = %x : memref<1x64xf32>) covers [0]
// CHECK: launch.fold() {
// CHECK-NEXT: launch.norm(x = %x : {{.*}}, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
// CHECK-NEXT: launch.gemm_parts(x = %q : !tgraph.q8<1x64>) {
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}}, out = %o : memref<1x64xf32>) covers [5]
// CHECK-NEXT: launch.binary(a = %o : memref<1x64xf32>, b = %x : memref<1x64xf32>, out = %s : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [6]
// CHECK-NEXT: }
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.norm(x = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [7]
// CHECK-NEXT: launch.gemv_glu(x = %h : {{.*}} covers [8, 9, 10]
// A sum that nothing else reads gets a buffer.
// CHECK: %[[sum:[0-9]+]] = launch.alloc : memref<1x64xf32>
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %b {{.*}} covers [11]
// CHECK-NEXT: launch.binary(a = %p : memref<1x64xf32>, b = %s : memref<1x64xf32>, out = %[[sum]] : memref<1x64xf32>) {{.*}} covers [12]
// CHECK: launch.fold() {
// CHECK-NEXT: launch.norm(x = %[[sum]] : memref<1x64xf32>, out = %i : memref<1x64xf32>) {{.*}} covers [13]
// CHECK-NEXT: launch.gemv(x = %i {{.*}} covers [14]
func.func @moves(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %b: memref<1x96xf32>, %y: memref<1x96xf32>,
    %u: memref<1x64xf32>) attributes {launch.lifted = 15 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<q8_0, 256x64>
  %p0 = launch.constant #tgraph.checkpoint<"p0"> : !tgraph.rows<q8_0, 64x64, transposed>
  %p1 = launch.constant #tgraph.checkpoint<"p1"> : !tgraph.rows<q8_0, 32x64, transposed>
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 64x96, transposed>
  %wg = launch.constant #tgraph.checkpoint<"gate"> : !tgraph.rows<bf16, 96x64, transposed>
  %wu = launch.constant #tgraph.checkpoint<"up"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %x = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  %m = launch.alloc : memref<1x64xf32>
  %n = launch.alloc : memref<1x32xf32>
  launch.fold() {
    launch.gather(table = %e : !tgraph.rows<q8_0, 256x64>, index = %token : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    launch.norm(x = %x : memref<1x64xf32>, w = %g : memref<64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemm_parts(x = %q : !tgraph.q8<1x64>) {
    launch.gemm_part(w = %p0 : !tgraph.rows<q8_0, 64x64, transposed>, out = %m : memref<1x64xf32>) covers [3]
    launch.gemm_part(w = %p1 : !tgraph.rows<q8_0, 32x64, transposed>, out = %n : memref<1x32xf32>) covers [4]
  }
  %o = launch.alloc : memref<1x64xf32>
  %s = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [5]
    launch.norm(x = %o : memref<1x64xf32>, add = %x : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [6, 7]
  }
  launch.gemv_glu(x = %h : memref<1x64xf32>, wg = %wg : !tgraph.rows<bf16, 96x64, transposed>, wu = %wu : !tgraph.rows<bf16, 96x64, transposed>, out = %b : memref<1x96xf32>) {act = #launch<act silu>} covers [8, 9, 10]
  %p = launch.alloc : memref<1x64xf32>
  %i = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %b : memref<1x96xf32>, w = %d : !tgraph.rows<bf16, 64x96, transposed>, out = %p : memref<1x64xf32>) covers [11]
    launch.norm(x = %p : memref<1x64xf32>, add = %s : memref<1x64xf32>, out = %i : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [12, 13]
  }
  launch.gemv(x = %i : memref<1x64xf32>, w = %wg : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [14]
  func.return
}

// -----

// Two launches would norm the row twice.
// CHECK-LABEL: func.func @two_readers
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @two_readers(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [3]
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %z : memref<1x96xf32>) covers [4]
  func.return
}

// -----

// A launch norms one row of x.
// CHECK-LABEL: func.func @two_rows
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @two_rows(%token: memref<1xi32> {tgraph.token}, %a: memref<2x128xf32>, %r: memref<2x64xf32>, %s: memref<2x64xf32>,
    %y: memref<2x96xf32>, %z: memref<2x96xf32>) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<2x64xf32>
  %h = launch.alloc : memref<2x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<2x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<2x64xf32>) covers [0]
    launch.norm(x = %o : memref<2x64xf32>, add = %r : memref<2x64xf32>, sum = %s : memref<2x64xf32>, w = %g : memref<64xf32>, out = %h : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<2x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<2x96xf32>) covers [3]
  func.return
}

// -----

// A row of 8196 values is normed by its maker.
// CHECK-LABEL: func.func @a_wide_row
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @a_wide_row(%token: memref<1xi32> {tgraph.token}, %a: memref<1x64xf32>, %r: memref<1x8196xf32>, %s: memref<1x8196xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 8196x64, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x8196, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<8196xf32>
  %o = launch.alloc : memref<1x8196xf32>
  %h = launch.alloc : memref<1x8196xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 8196x64, transposed>, out = %o : memref<1x8196xf32>) covers [0]
    launch.norm(x = %o : memref<1x8196xf32>, add = %r : memref<1x8196xf32>, sum = %s : memref<1x8196xf32>, w = %g : memref<8196xf32>, out = %h : memref<1x8196xf32>) {cols = 8196 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<1x8196xf32>, w = %v : !tgraph.rows<bf16, 96x8196, transposed>, out = %y : memref<1x96xf32>) covers [3]
  func.return
}

// -----

// Rows are read four values at a time.
// CHECK-LABEL: func.func @an_odd_width
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @an_odd_width(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x62xf32>, %s: memref<1x62xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 62x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x62, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<62xf32>
  %o = launch.alloc : memref<1x62xf32>
  %h = launch.alloc : memref<1x62xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 62x128, transposed>, out = %o : memref<1x62xf32>) covers [0]
    launch.norm(x = %o : memref<1x62xf32>, add = %r : memref<1x62xf32>, sum = %s : memref<1x62xf32>, w = %g : memref<62xf32>, out = %h : memref<1x62xf32>) {cols = 62 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<1x62xf32>, w = %v : !tgraph.rows<bf16, 96x62, transposed>, out = %y : memref<1x96xf32>) covers [3]
  func.return
}

// -----

// What reads it is no product.
// CHECK-LABEL: func.func @another_reader
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @another_reader(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.unary(x = %h : memref<1x64xf32>, out = %r : memref<1x64xf32>) {act = #launch<act silu>} covers [3]
  func.return
}

// -----

// The product itself is read too, and not only its sum.
// CHECK-LABEL: func.func @the_product_is_read
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @the_product_is_read(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [3]
  launch.gemv(x = %o : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %z : memref<1x96xf32>) covers [4]
  func.return
}

// -----

// A norm of the product comes before the sum.
// CHECK-LABEL: func.func @a_sandwich
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @a_sandwich(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, pre = %g : memref<64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32, pre_eps = 1.000000e-06 : f32} covers [1, 2, 3]
  }
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [4]
  func.return
}

// -----

// Groups of the row are normed, not the row.
// CHECK-LABEL: func.func @heads
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @heads(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 3 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [2]
  func.return
}

// -----

// The row is a mixture's.
// CHECK-LABEL: func.func @of_a_mixture
// CHECK: launch.fold() {
// CHECK-NEXT: launch.moe(x = %a {{.*}} out = %o : memref<1x64xf32>) {{.*}} covers [0]
// CHECK-NEXT: launch.binary(a = %o : memref<1x64xf32>, b = %r : memref<1x64xf32>, out = %s : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.norm(x = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {{.*}} covers [2]
// CHECK-NEXT: launch.gemv(x = %h : memref<1x64xf32>, {{.*}} covers [3]
func.func @of_a_mixture(%token: memref<1xi32> {tgraph.token}, %a: memref<1x64xf32>, %r: memref<1x64xf32>, %s: memref<1x64xf32>,
    %y: memref<1x96xf32>) attributes {launch.lifted = 4 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %t = launch.constant #tgraph.checkpoint<"t"> : !tgraph.rows<bf16, 4x64, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : memref<64xf32>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.moe(x = %a : memref<1x64xf32>, router = %t : !tgraph.rows<bf16, 4x64, transposed>, gate = %w : !tgraph.rows<bf16, 128x64, transposed>, up = %w : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %o : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %g : memref<64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [3]
  func.return
}

// -----

// A mixture takes the norm over in both of its forms: the quantized one for its experts, the other for its router.
// CHECK-LABEL: func.func @before_a_mixture
// CHECK: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.binary(a = %o : memref<1x64xf32>, b = %x : memref<1x64xf32>, out = %s : memref<1x64xf32>) {{.*}} covers [1]
// CHECK-NEXT: }
// CHECK: launch.fold() {
// CHECK-NEXT: launch.norm(x = %s : memref<1x64xf32>, w = %n : memref<64xf32>, out = %h : memref<1x64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [2, 3]
// CHECK-NEXT: launch.moe(x = %q : !tgraph.q8<1x64>, router_x = %h
// CHECK-NEXT: launch.binary(a = %m
// CHECK: launch.fold() {
// CHECK-NEXT: launch.norm(x = %t : memref<1x64xf32>, out = %i : memref<1x64xf32>) {{.*}} covers [6]
// CHECK-NEXT: launch.gemv(x = %i {{.*}} covers [7]
func.func @before_a_mixture(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %x: memref<1x64xf32>,
    %y: memref<1x96xf32>) attributes {launch.lifted = 8 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<64xf32>
  %r = launch.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = launch.constant #tgraph.checkpoint<"g"> : !tgraph.rows<q8_0, 128x64, transposed>
  %d = launch.constant #tgraph.checkpoint<"d"> : !tgraph.rows<q8_0, 256x32, transposed>
  %o = launch.alloc : memref<1x64xf32>
  %s = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, add = %x : memref<1x64xf32>, sum = %s : memref<1x64xf32>, w = %n : memref<64xf32>, out = %h : memref<1x64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2, 3]
  }
  %m = launch.alloc : memref<1x64xf32>
  %t = launch.alloc : memref<1x64xf32>
  %i = launch.alloc : memref<1x64xf32>
  launch.fold() {
    launch.moe(x = %q : !tgraph.q8<1x64>, router_x = %h : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<q8_0, 128x64, transposed>, up = %g : !tgraph.rows<q8_0, 128x64, transposed>, down = %d : !tgraph.rows<q8_0, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64} covers [4]
    launch.norm(x = %m : memref<1x64xf32>, add = %s : memref<1x64xf32>, sum = %t : memref<1x64xf32>, out = %i : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [5, 6]
  }
  launch.gemv(x = %i : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [7]
  func.return
}

// -----

// Something else reads the f32 form: two launches would norm the row.
// CHECK-LABEL: func.func @of_two_forms
// CHECK: launch.gemv(x = %a {{.*}} covers [0]
// CHECK-NEXT: launch.norm(x = %o
func.func @of_two_forms(%token: memref<1xi32> {tgraph.token}, %a: memref<1x128xf32>, %x: memref<1x64xf32>,
    %y: memref<1x96xf32>, %z: memref<1x96xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x128, transposed>
  %v = launch.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 96x64, transposed>
  %k = launch.constant #tgraph.checkpoint<"k"> : !tgraph.rows<q8_0, 96x64, transposed>
  %o = launch.alloc : memref<1x64xf32>
  %h = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x64>
  launch.fold() {
    launch.gemv(x = %a : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>, out = %o : memref<1x64xf32>) covers [0]
    launch.norm(x = %o : memref<1x64xf32>, out = %h : memref<1x64xf32>, quant = %q : !tgraph.q8<1x64>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1, 2]
  }
  launch.gemv(x = %q : !tgraph.q8<1x64>, w = %k : !tgraph.rows<q8_0, 96x64, transposed>, out = %y : memref<1x96xf32>) covers [3]
  launch.gemv(x = %h : memref<1x64xf32>, w = %v : !tgraph.rows<bf16, 96x64, transposed>, out = %z : memref<1x96xf32>) covers [4]
  func.return
}
