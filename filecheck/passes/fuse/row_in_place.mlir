// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A rotation, a normed rotation, a product by values, a product with its bias; a named and a fixed row.
// CHECK-LABEL: func.func @rotations
func.func @rotations(%x: tensor<1x64xf32>, %y: tensor<1x64xf32>, %w: tensor<32xf32>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %pos: tensor<1xi32>, %other: tensor<1xi32>, %k: tensor<8x64xf32>, %l: tensor<8x64xf32>)
    -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK-NEXT: %t = tgraph.fused row_in_place(%x_1 = %x : {{.*}}, %cos_1 = %cos : {{.*}}, %sin_1 = %sin : {{.*}}, %pos_1 = %pos : {{.*}}, %k_1 = %k : {{.*}}) -> (tensor<8x64xf32>) {
  // CHECK-NEXT:   %r = tgraph.rope %x_1
  // CHECK-NEXT:   %t_1 = tgraph.set_row %k_1, %r at %pos_1
  // CHECK-NEXT:   tgraph.yield %t_1
  // CHECK-NEXT: }
  // CHECK-NEXT: %u = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.fused qk_norm_rope(
  // CHECK-NEXT:     tgraph.fused_row rms
  // CHECK-NEXT:     tgraph.rope
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.set_row %l_1, {{.*}} row 3
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %r = tgraph.rope %x, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %r at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %n = tgraph.fused_row rms %y weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %q = tgraph.rope %n, %cos, %sin at %other heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %u = tgraph.set_row %l, %q row 3 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  func.return %t, %u : tensor<8x64xf32>, tensor<8x64xf32>
}

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<1x64xf32>, %w: tensor<64x64xf32>, %v: !tgraph.rows<bf16, 64x64, transposed>,
    %pos: tensor<1xi32>, %k: tensor<8x64xf32>, %l: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK-NEXT: %b = tgraph.constant
  // CHECK-NEXT: %t = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.matmul
  // CHECK-NEXT:   tgraph.set_row
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %u = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.set_row
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %z = tgraph.matmul %x, %v : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x64xf32>
  %s = tgraph.elementwise add %z, %b : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %u = tgraph.set_row %l, %s at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %t, %u : tensor<8x64xf32>, tensor<8x64xf32>
}

// A product a head, reading parts in place or not; a mixture; a join.
// CHECK-LABEL: func.func @other_launches
func.func @other_launches(%x: tensor<1x64xf32>, %m: !tgraph.rows<bf16, 64x32>, %y: tensor<1x128xf32>,
    %r: !tgraph.rows<bf16, 4x64, transposed>, %w: !tgraph.rows<bf16, 128x64, transposed>,
    %d: !tgraph.rows<bf16, 256x32, transposed>, %k: tensor<8x64xf32>, %l: tensor<8x64xf32>, %n: tensor<8x64xf32>,
    %o: tensor<8x128xf32>, %pos: tensor<1xi32>)
    -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x128xf32>) {
  // CHECK-NEXT: %a = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.head_matmul
  // CHECK:        tgraph.set_row %k_1
  // CHECK:      %b = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.fused part_in_place(
  // CHECK:        tgraph.set_row %l_1
  // CHECK:      %c = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.moe
  // CHECK:        tgraph.set_row %n_1
  // CHECK:      %e = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.join
  // CHECK-NEXT:   tgraph.set_row %o_1
  %0 = tgraph.head_matmul %x, %m heads 2 inputs 32 outputs 32
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x64xf32>
  %a = tgraph.set_row %k, %0 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %1 = tgraph.head_slice %y start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %2 = tgraph.head_matmul %1, %m heads 2 inputs 32 outputs 32
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x64xf32>
  %b = tgraph.set_row %l, %2 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %3 = tgraph.moe softmax silu %x, %r, %w, %w, %d experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %c = tgraph.set_row %n, %3 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %4 = tgraph.join %x, %x heads 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %e = tgraph.set_row %o, %4 at %pos : (tensor<8x128xf32>, tensor<1x128xf32>, tensor<1xi32>) -> tensor<8x128xf32>
  func.return %a, %b, %c, %e : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x128xf32>
}

// -----

// CHECK-LABEL: func.func @row_leaves
// CHECK-NOT: tgraph.fused
func.func @row_leaves(%x: tensor<1x64xf32>, %w: tensor<64x64xf32>, %pos: tensor<1xi32>, %k: tensor<8x64xf32>)
    -> (tensor<8x64xf32>, tensor<1x64xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %t, %y : tensor<8x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @row_in_two_tables
// CHECK-NOT: tgraph.fused
func.func @row_in_two_tables(%x: tensor<1x64xf32>, %w: tensor<64x64xf32>, %pos: tensor<1xi32>, %k: tensor<8x64xf32>,
    %l: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %u = tgraph.set_row %l, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %t, %u : tensor<8x64xf32>, tensor<8x64xf32>
}

// The old table has another reader, before or after; two writes start from one table.
// CHECK-LABEL: func.func @old_table_read
// CHECK-NOT: row_in_place
func.func @old_table_read(%x: tensor<1x64xf32>, %w: tensor<64x64xf32>, %pos: tensor<1xi32>, %k: tensor<8x64xf32>,
    %l: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %o = tgraph.view %k offset 0 : tensor<8x64xf32> -> tensor<1x64xf32>
  %z = tgraph.matmul %o, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %u = tgraph.set_row %l, %z at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %a = tgraph.matmul %o, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %v = tgraph.set_row %l, %a row 1 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  func.return %t, %o, %u, %v : tensor<8x64xf32>, tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
}

// An activation and a norm, of a part in place or not; a table's rows set into another table.
// CHECK-LABEL: func.func @other_sources
// CHECK-NOT: row_in_place
func.func @other_sources(%x: tensor<1x64xf32>, %pos: tensor<1xi32>, %k: tensor<8x64xf32>, %l: tensor<8x64xf32>,
    %m: tensor<8x64xf32>, %n: tensor<8x64xf32>, %z: tensor<1x128xf32>)
    -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
  %y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %y at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %u = tgraph.set_row %l, %x at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %0 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %v = tgraph.set_row %m, %0 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %1 = tgraph.head_slice %z start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %2 = tgraph.fused_row rms %1 cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %w = tgraph.set_row %n, %2 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %t, %u, %v, %w : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
}

// The rows that land are a table themselves, and are set whole into another: once is enough.
// CHECK-LABEL: func.func @set_twice
func.func @set_twice(%x: tensor<1x64xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>,
    %k: tensor<8x64xf32>, %l: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NEXT: %t = tgraph.fused row_in_place(
  // CHECK-NEXT:   tgraph.rope
  // CHECK-NEXT:   tgraph.set_row
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.set_row %l, %t row 0
  // CHECK-NEXT: func.return
  %r = tgraph.rope %x, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %r at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %u = tgraph.set_row %l, %t row 0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %u : tensor<8x64xf32>
}

// -----

// A batch's attentions and delta rules land in fixed rows of a tensor that is read before; each rule's state is kept.
// CHECK-LABEL: func.func @batch
func.func @batch(%q: tensor<2x64xf32>, %k0: tensor<8x64xf32>, %k1: tensor<8x64xf32>, %p0: tensor<1xi32>, %p1: tensor<1xi32>,
    %b: tensor<1x2xf32>, %s0: tensor<64x32xf32>, %s1: tensor<64x32xf32>, %w: tensor<32xf32>, %v: tensor<2x64xf32>)
    -> (tensor<2x64xf32>, tensor<2x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  // CHECK:      %t = tgraph.fused row_in_place({{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   tgraph.attention
  // CHECK:        tgraph.set_row {{.*}} row 0
  // CHECK:      %u = tgraph.fused row_in_place({{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   tgraph.attention
  // CHECK:      %{{.*}}, %{{.*}} = tgraph.fused row_in_place({{.*}}) -> (tensor<64x32xf32>, tensor<2x64xf32>) {
  // CHECK-NEXT:   tgraph.gated_delta
  // CHECK:      %{{.*}}, %{{.*}} = tgraph.fused row_in_place({{.*}}) -> (tensor<64x32xf32>, tensor<2x64xf32>) {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %q1 = tgraph.view %q offset 64 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a0 = tgraph.attention %q0, %k0, %k0 at %p0 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %a1 = tgraph.attention %q1, %k1, %k1 at %p1 heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %u = tgraph.set_row %t, %a1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %y0, %n0 = tgraph.gated_delta silu %q0, %q0, %q0, %q0, %b, %b, %s0, %w value_heads 2 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
       tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  %y1, %n1 = tgraph.gated_delta silu %q1, %q1, %q1, %q1, %b, %b, %s1, %w value_heads 2 key_heads 2 head_dim 32 eps 1.000000e-06
    : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
       tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  %d = tgraph.set_row %v, %y0 row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %e = tgraph.set_row %d, %y1 row 1 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %u, %e, %n0, %n1 : tensor<2x64xf32>, tensor<2x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// The tensor's other row is left as it was, and is read before too: no attention lands in it.
// CHECK-LABEL: func.func @half_a_batch
// CHECK-NOT: row_in_place
func.func @half_a_batch(%q: tensor<2x64xf32>, %k: tensor<8x64xf32>, %p: tensor<1xi32>) -> tensor<2x64xf32> {
  %q0 = tgraph.view %q offset 0 : tensor<2x64xf32> -> tensor<1x64xf32>
  %a = tgraph.attention %q0, %k, %k at %p heads 2 kv_heads 2 head_dim 32 value_dim 32
    : tensor<1x64xf32>, tensor<8x64xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %q, %a row 0 : (tensor<2x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  func.return %t : tensor<2x64xf32>
}

// -----

// A table of f16 rounds what is set into it: no row lands there as its launch writes it.
// CHECK-LABEL: func.func @set_into_a_table_of_f16
func.func @set_into_a_table_of_f16(%x: tensor<1x64xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>, %k: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // CHECK: %r = tgraph.rope
  // CHECK-NEXT: %t = tgraph.set_row %k, %r at %pos
  // CHECK-NEXT: func.return
  %r = tgraph.rope %x, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %r at %pos : (tensor<8x64xf16>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf16>
  func.return %t : tensor<8x64xf16>
}
