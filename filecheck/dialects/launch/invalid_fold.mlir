// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "of_one"
// CHECK: | Operation does not verify: launch.fold: expected at least 2 inside, got 1
func.func @of_one(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "of_none"
// CHECK: | Operation does not verify: Region 'body' at position 0 expected a single block, but got 0 blocks
func.func @of_none(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  }
  func.return
}

// -----

// CHECK: sym_name = "of_others"
// CHECK: | Operation does not verify: launch.fold: expected launch.gather or launch.gemv or launch.gemv_f32 or launch.gemm_parts or launch.moe or launch.norm or launch.rope_parts or launch.gemv_glu or launch.attention or launch.binary or launch.rope inside, got launch.unary
func.func @of_others(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
  launch.unary(x = %o : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "of_a_norm_and_no_product"
// CHECK: | Operation does not verify: launch.fold: expected launch.gemv or launch.gemm_parts or launch.gemv_glu or launch.moe after a norm that comes first, got launch.norm
func.func @of_a_norm_and_no_product(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.norm(x = %x : memref<1x64xf32>, out = %o : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  launch.norm(x = %o : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "of_a_rotation_and_no_attention"
// CHECK: | Operation does not verify: launch.fold: expected launch.attention after a rotation that comes first, got launch.norm
func.func @of_a_rotation_and_no_attention(%x: memref<1x64xf32>, %c: memref<8x16xf32>, %p: memref<1xi32>, %o: memref<1x64xf32>, %h: memref<1x64xf32>) {
  launch.fold() {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
    launch.rope_side(x = %x : memref<1x64xf32>, out = %o : memref<1x64xf32>) {heads = 2 : i64} covers [0]
  }
  launch.norm(x = %o : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "that_ends_with_a_product"
// CHECK: | Operation does not verify: launch.fold: expected launch.binary or launch.norm or launch.rope or launch.rope_parts after the first, got launch.gemv
func.func @that_ends_with_a_product(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
  launch.gemv(x = %o : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %y : memref<1x64xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "of_parts_that_read_nothing_of_each_other"
// CHECK: | Operation does not verify: launch.fold: expected launch.norm to read what a part before it wrote
func.func @of_parts_that_read_nothing_of_each_other(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
  launch.norm(x = %x : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "with_block_arguments"
// CHECK: | Operation does not verify: launch.fold: expected no block arguments inside, got 1
func.func @with_block_arguments(%x: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %o: memref<1x64xf32>, %h: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  ^bb0(%u : memref<1x64xf32>):
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %o : memref<1x64xf32>) covers [0]
  launch.norm(x = %o : memref<1x64xf32>, out = %h : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: sym_name = "that_begins_with_a_sum"
// CHECK: | Operation does not verify: launch.fold: expected launch.gather or launch.gemv or launch.gemv_f32 or launch.gemm_parts or launch.moe or launch.norm or launch.rope_parts first, got launch.binary
func.func @that_begins_with_a_sum(%x: memref<1x64xf32>, %o: memref<1x64xf32>, %y: memref<1x64xf32>) {
  launch.fold() {
  launch.binary(a = %x : memref<1x64xf32>, b = %x : memref<1x64xf32>, out = %o : memref<1x64xf32>) {kind = #tgraph<binary_kind add>} covers [0]
  launch.norm(x = %o : memref<1x64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}
