// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: step @without_a_count: expected the integer attribute launch.lifted, got None
func.func @without_a_count(%k: memref<1xi32> {tgraph.token}, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: step @with_a_count_in_words: expected the integer attribute launch.lifted, got "two"
func.func @with_a_count_in_words(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = "two"} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: step @with_an_op_left_out: expected each lifted op covered by one launch, got none for [1]
func.func @with_an_op_left_out(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 3 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0, 2]
  func.return
}

// -----

// CHECK: step @with_an_op_twice: expected each lifted op covered by one launch, got several for [1]
func.func @with_an_op_twice(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 2 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0, 1]
  launch.unary(x = %x : memref<1x64xf32>, out = %z : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  func.return
}

// -----

// CHECK: expected each lifted op covered by one launch, got several for [0]
func.func @with_an_op_twice_in_one_launch(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 1 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0, 0]
  func.return
}

// -----

// CHECK: step @with_an_op_there_is_none_of: expected covers below 1, got [7]
func.func @with_an_op_there_is_none_of(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 1 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [0, 7]
  func.return
}

// -----

// CHECK: got none for [1]
func.func @with_a_member_left_out(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 3 : i64} {
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %y : memref<1x64xf32>) covers [0]
    launch.norm(x = %y : memref<1x64xf32>, out = %z : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [2]
  }
  func.return
}

// -----

// CHECK: launch.unary: expected buffers to write, got the constant #tgraph.checkpoint<"c">
func.func @that_writes_a_constant(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 1 : i64} {
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<1x64xf32>
  launch.unary(x = %x : memref<1x64xf32>, out = %c : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: launch.unary: expected buffers to write, got the constant #tgraph.checkpoint<"c">
func.func @that_writes_a_view_of_a_constant(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 2 : i64} {
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<2x64xf32>
  %v = launch.view %c offset 64 covers [1] : memref<2x64xf32> -> memref<1x64xf32>
  launch.unary(x = %x : memref<1x64xf32>, out = %v : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: launch.unary: expected to write other buffers than it reads, got one as both
func.func @that_writes_what_it_reads(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 1 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  func.return
}

// -----

// CHECK: launch.set_row: expected to write other buffers than it reads, got one as both
func.func @that_writes_a_view_of_what_it_reads(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 2 : i64} {
  %v = launch.view %t offset 0 covers [1] : memref<2x64xf32> -> memref<1x64xf32>
  launch.set_row(source = %v : memref<1x64xf32>, out = %t : memref<2x64xf32>) {row = 1 : i64} covers [0]
  func.return
}

// -----

// CHECK: launch.norm: expected to write other buffers than it reads, got one as both
func.func @whose_fold_writes_what_its_first_part_reads(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 2 : i64} {
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %y : memref<1x64xf32>) covers [0]
    launch.norm(x = %y : memref<1x64xf32>, out = %x : memref<1x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [1]
  }
  func.return
}

// -----

// CHECK: launch.gemm_part: expected to write other buffers than it reads, got one as both
func.func @whose_parts_write_what_others_read(%x: memref<1x64xf32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %b: memref<64xf32>, %t: memref<2x64xf32>) attributes {launch.lifted = 2 : i64} {
  launch.gemm_parts(x = %x : memref<1x64xf32>) {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x64, transposed>, out = %z : memref<1x64xf32>) covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x64, transposed>, bias = %z : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [1]
  }
  func.return
}

// -----

// CHECK: launch.unary: operand 0 (a result of launch.alloc) does not dominate its use
func.func @before_its_definition(%x: memref<1x64xf32>) {
  launch.unary(x = %a : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers []
  %a = launch.alloc : memref<1x64xf32>
  func.return
}
