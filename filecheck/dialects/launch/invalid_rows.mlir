// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: sym_name = "norm_of_a_vector"
// CHECK: | Operation does not verify: launch.norm x: expected a static memref<RxWxf32>, got memref<64xf32>
func.func @norm_of_a_vector(%x: memref<64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<64xf32>, out = %out : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_of_groups_that_do_not_divide"
// CHECK: | Operation does not verify: launch.norm cols: expected a divisor of the row's 64 values, got 24
func.func @norm_of_groups_that_do_not_divide(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 24 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_of_no_columns"
// CHECK: | Operation does not verify: launch.norm cols: expected a divisor of the row's 64 values, got 0
func.func @norm_of_no_columns(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 0 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_add_of_another_shape"
// CHECK: | Operation does not verify: launch.norm add: expected (2, 64), got (1, 64)
func.func @norm_add_of_another_shape(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %add: memref<1x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, add = %add : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_sum_of_another_shape"
// CHECK: | Operation does not verify: launch.norm sum: expected (2, 64), got (2, 32)
func.func @norm_sum_of_another_shape(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %sum: memref<2x32xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, sum = %sum : memref<2x32xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_out_of_another_shape"
// CHECK: | Operation does not verify: launch.norm out: expected (2, 64), got (3, 64)
func.func @norm_out_of_another_shape(%x: memref<2x64xf32>, %out: memref<3x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<3x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_pre_without_eps"
// CHECK: | Operation does not verify: launch.norm: expected pre and pre_eps together, got one without the other
func.func @norm_pre_without_eps(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %pre: memref<64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, pre = %pre : memref<64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_pre_eps_without_pre"
// CHECK: | Operation does not verify: launch.norm: expected pre and pre_eps together, got one without the other
func.func @norm_pre_eps_without_pre(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 64 : i64, pre_eps = 1.0 : f32, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_eps_below_zero"
// CHECK: | Operation does not verify: launch.norm eps: expected a finite number of at least 0, got -1.0
func.func @norm_eps_below_zero(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 64 : i64, eps = -1.0 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_eps_that_is_no_number"
// CHECK: | Operation does not verify: launch.norm eps: expected a finite number of at least 0, got nan
func.func @norm_eps_that_is_no_number(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 64 : i64, eps = 0x7fc00000 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_pre_eps_below_zero"
// CHECK: | Operation does not verify: launch.norm pre_eps: expected a finite number of at least 0, got -0.5
func.func @norm_pre_eps_below_zero(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %pre: memref<64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, pre = %pre : memref<64xf32>) {cols = 64 : i64, pre_eps = -0.5 : f32, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_pre_of_another_length"
// CHECK: | Operation does not verify: launch.norm pre: expected memref<64xf32>, got memref<32xf32>
func.func @norm_pre_of_another_length(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %pre: memref<32xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, pre = %pre : memref<32xf32>) {cols = 64 : i64, pre_eps = 1.0 : f32, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_weight_of_another_length"
// CHECK: | Operation does not verify: launch.norm w: expected memref<64xf32>, got memref<2x64xf32>
func.func @norm_weight_of_another_length(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %w: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, w = %w : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_without_a_result"
// CHECK: | Operation does not verify: launch.norm: expected out, quant or both, got neither
func.func @norm_without_a_result(%x: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_quant_of_another_shape"
// CHECK: | Operation does not verify: launch.norm quant: expected (2, 64), got (2, 32)
func.func @norm_quant_of_another_shape(%x: memref<2x64xf32>, %out: memref<2x64xf32>, %quant: !tgraph.q8<2x32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>, quant = %quant : !tgraph.q8<2x32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_at_two_positions"
// CHECK: | Operation does not verify: launch.rope position: expected memref<1xi32>, got memref<2xi32>
func.func @rope_at_two_positions(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<2xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<2xi32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_by_two_tables"
// CHECK: | Operation does not verify: launch.rope: sin table against cos: expected memref<8x16xf32>, got memref<9x16xf32>
func.func @rope_by_two_tables(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<9x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<9x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_by_tables_of_another_width"
// CHECK: | Operation does not verify: launch.rope: table width: expected 16, got 8
func.func @rope_by_tables_of_another_width(%x: memref<2x64xf32>, %cos: memref<8x8xf32>, %sin: memref<8x8xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x8xf32>, sin = %sin : memref<8x8xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_by_tables_that_are_vectors"
// CHECK: | Operation does not verify: launch.rope cos: expected a static memref<RxWxf32>, got memref<16xf32>
func.func @rope_by_tables_that_are_vectors(%x: memref<2x64xf32>, %cos: memref<16xf32>, %sin: memref<16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<16xf32>, sin = %sin : memref<16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_by_tables_of_fewer_rows"
// CHECK: | Operation does not verify: launch.rope tables: expected at least 2 rows, got 1
func.func @rope_by_tables_of_fewer_rows(%x: memref<2x64xf32>, %cos: memref<1x16xf32>, %sin: memref<1x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<1x16xf32>, sin = %sin : memref<1x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_without_a_position_by_whole_tables"
// CHECK: | Operation does not verify: launch.rope x rows: expected 8, got 2
func.func @rope_without_a_position_by_whole_tables(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, out = %out : memref<2x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_of_no_heads"
// CHECK: | Operation does not verify: launch.rope: expected heads of at least 1 and a rotation inside the head, got 0 heads of 32 turned by 16 pairs
func.func @rope_of_no_heads(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 0 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_wider_than_its_head"
// CHECK: | Operation does not verify: launch.rope: expected heads of at least 1 and a rotation inside the head, got 4 heads of 16 turned by 16 pairs
func.func @rope_wider_than_its_head(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 4 : i64, head_dim = 16 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_of_another_width"
// CHECK: | Operation does not verify: launch.rope x width: 3 heads of 32: expected 96, got 64
func.func @rope_of_another_width(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {heads = 3 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_norm_of_another_length"
// CHECK: | Operation does not verify: launch.rope norm: expected memref<32xf32>, got memref<64xf32>
func.func @rope_norm_of_another_length(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>, %norm: memref<64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>, norm = %norm : memref<64xf32>) {norm_eps = 1.0 : f32, heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_norm_without_eps"
// CHECK: | Operation does not verify: launch.rope: expected norm_eps beside norm, got none
func.func @rope_norm_without_eps(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>, %norm: memref<32xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>, norm = %norm : memref<32xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_eps_below_zero"
// CHECK: | Operation does not verify: launch.rope norm_eps: expected a finite number of at least 0, got -1.0
func.func @rope_eps_below_zero(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<2x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<2x64xf32>) {norm_eps = -1.0 : f32, heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_at_an_f32"
// CHECK: | Operation does not verify: launch.rope at: expected memref<1xi32>, got memref<1xf32>
func.func @rope_at_an_f32(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<8x64xf32>, %at: memref<1xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<8x64xf32>, at = %at : memref<1xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_out_of_another_shape"
// CHECK: | Operation does not verify: launch.rope out: expected (2, 64), got (8, 64)
func.func @rope_out_of_another_shape(%x: memref<2x64xf32>, %cos: memref<8x16xf32>, %sin: memref<8x16xf32>, %position: memref<1xi32>, %out: memref<8x64xf32>) {
  launch.rope(x = %x : memref<2x64xf32>, cos = %cos : memref<8x16xf32>, sin = %sin : memref<8x16xf32>, position = %position : memref<1xi32>, out = %out : memref<8x64xf32>) {heads = 2 : i64, head_dim = 32 : i64, half = 16 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_side_alone"
// CHECK: | Operation does not verify: 'launch.rope_side' expects parent op 'launch.rope_parts'
func.func @rope_side_alone(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_side(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "rope_parts_of_none"
// CHECK: | Operation does not verify: Region 'body' at position 0 expected a single block, but got 0 blocks
func.func @rope_parts_of_none(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {

  }
  func.return
}

// -----

// CHECK: sym_name = "rope_parts_of_others"
// CHECK: | Operation does not verify: launch.rope_parts: expected launch.rope_side inside, got launch.unary
func.func @rope_parts_of_others(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  launch.unary(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {act = #launch<act silu>} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "rope_parts_of_different_rows"
// CHECK: | Operation does not verify: launch.rope_side x rows: expected 2, got 1
func.func @rope_parts_of_different_rows(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  launch.rope_side(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 2 : i64} covers [0]
  launch.rope_side(x = %u : memref<1x64xf32>, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "rope_parts_by_cut_tables_of_other_rows"
// CHECK: | Operation does not verify: launch.rope_side x rows: expected 2, got 1
func.func @rope_parts_by_cut_tables_of_other_rows(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %d : memref<2x16xf32>, sin = %d : memref<2x16xf32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  launch.rope_side(x = %u : memref<1x64xf32>, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "rope_side_of_another_width"
// CHECK: | Operation does not verify: launch.rope_side x width: 1 heads of 32: expected 32, got 64
func.func @rope_side_of_another_width(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  launch.rope_side(x = %x : memref<2x64xf32>, out = %y : memref<2x64xf32>) {heads = 1 : i64} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "rope_side_out_of_another_shape"
// CHECK: | Operation does not verify: launch.rope_side out: expected (2, 64), got (1, 64)
func.func @rope_side_out_of_another_shape(%x: memref<2x64xf32>, %u: memref<1x64xf32>, %c: memref<8x16xf32>, %d: memref<2x16xf32>, %p: memref<1xi32>, %y: memref<2x64xf32>, %z: memref<1x64xf32>) {
  launch.rope_parts(cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
  launch.rope_side(x = %x : memref<2x64xf32>, out = %z : memref<1x64xf32>) {heads = 2 : i64} covers [0]
  }
  func.return
}

// -----

// CHECK: sym_name = "norm_eps_past_every_number"
// CHECK: | Operation does not verify: launch.norm eps: expected a finite number of at least 0, got inf
func.func @norm_eps_past_every_number(%x: memref<2x64xf32>, %out: memref<2x64xf32>) {
  launch.norm(x = %x : memref<2x64xf32>, out = %out : memref<2x64xf32>) {cols = 64 : i64, eps = 0x7f800000 : f32} covers [0]
  func.return
}

// -----

// CHECK: sym_name = "norm_of_more_rows_than_an_index_names"
// CHECK: | Operation does not verify: launch.norm x: expected at most 2147483647 rows and values a row, got memref<2147483648x64xf32>
func.func @norm_of_more_rows_than_an_index_names(%x: memref<2147483648x64xf32>, %out: memref<2147483648x64xf32>) {
  launch.norm(x = %x : memref<2147483648x64xf32>, out = %out : memref<2147483648x64xf32>) {cols = 64 : i64, eps = 1.0 : f32} covers [0]
  func.return
}
