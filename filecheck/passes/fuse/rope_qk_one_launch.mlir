// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// Heads of one size, any number of them; one side normed, one landing in a table.
// CHECK-LABEL: func.func @sides
func.func @sides(%x: tensor<1x64xf32>, %y: tensor<1x128xf32>, %z: tensor<1x32xf32>, %w: tensor<32xf32>,
    %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>, %k: tensor<8x32xf32>)
    -> (tensor<1x64xf32>, tensor<1x128xf32>, tensor<8x32xf32>) {
  // CHECK-NEXT: %a, %b, %t = tgraph.fused rope_qk_one_launch(%x_1 = %x : {{.*}}, %cos_1 = %cos : {{.*}}, %sin_1 = %sin : {{.*}}, %pos_1 = %pos : {{.*}}, %y_1 = %y : {{.*}}, %w_1 = %w : {{.*}}, %z_1 = %z : {{.*}}, %k_1 = %k : {{.*}}) -> (tensor<1x64xf32>, tensor<1x128xf32>, tensor<8x32xf32>) {
  // CHECK-NEXT:   %a_1 = tgraph.rope %x_1
  // CHECK-NEXT:   %b_1 = tgraph.fused qk_norm_rope(
  // CHECK-NEXT:     tgraph.fused_row rms {{.*}} eps 1.000000e-05
  // CHECK-NEXT:     tgraph.rope
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %t_1 = tgraph.fused row_in_place(
  // CHECK-NEXT:     tgraph.rope
  // CHECK-NEXT:     tgraph.set_row
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %a_1, %b_1, %t_1
  // CHECK-NEXT: }
  %a = tgraph.rope %x, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %y weight %w : tensor<32xf32> cols 32 eps 1.000000e-05 : tensor<1x128xf32>
  %b = tgraph.rope %n, %cos, %sin at %pos heads 4 head_dim 32 half 16
    : (tensor<1x128xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
  %c = tgraph.rope %z, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %t = tgraph.set_row %k, %c at %pos : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %a, %b, %t : tensor<1x64xf32>, tensor<1x128xf32>, tensor<8x32xf32>
}

// Five sides: four to a launch, and no launch for one alone.
// CHECK-LABEL: func.func @five
func.func @five(%x: tensor<1x32xf32>, %cos: tensor<1x16xf32>, %sin: tensor<1x16xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %a, %b, %c, %d = tgraph.fused rope_qk_one_launch(
  // CHECK:      }
  // CHECK-NEXT: %e = tgraph.rope
  // CHECK-NEXT: func.return
  %a = tgraph.rope %x, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  %b = tgraph.rope %x, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  %c = tgraph.rope %x, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  %d = tgraph.rope %x, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  %e = tgraph.rope %x, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @other_tables
// CHECK-NOT: tgraph.fused
func.func @other_tables(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %cos2: tensor<8x16xf32>, %sin2: tensor<8x16xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.rope %x, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %b = tgraph.rope %y, %cos2, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %c = tgraph.rope %y, %cos, %sin2 at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  func.return %a, %b, %c : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: func.func @other_positions
// CHECK-NOT: tgraph.fused
func.func @other_positions(%x: tensor<1x32xf32>, %y: tensor<1x32xf32>, %cos: tensor<1x16xf32>, %sin: tensor<1x16xf32>,
    %pos: tensor<1xi32>, %pos2: tensor<1xi32>) -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.rope %x, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %b = tgraph.rope %y, %cos, %sin at %pos2 heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %c = tgraph.rope %y, %cos, %sin heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x32xf32>
  func.return %a, %b, %c : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// Other heads, other rows.
// CHECK-LABEL: func.func @other_shapes
// CHECK-NOT: tgraph.fused
func.func @other_shapes(%x: tensor<1x64xf32>, %y: tensor<2x64xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<2x64xf32>) {
  %a = tgraph.rope %x, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.rope %x, %cos, %sin at %pos heads 1 head_dim 64 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %c = tgraph.rope %y, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<2x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<2x64xf32>
  func.return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<2x64xf32>
}

// One turns what the other turned; one waits for what the other's reader makes.
// CHECK-LABEL: func.func @in_turn
// CHECK-NOT: tgraph.fused
func.func @in_turn(%x: tensor<1x32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>)
    -> tensor<1x32xf32> {
  %a = tgraph.rope %x, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %b = tgraph.rope %a, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %y = tgraph.silu %b : tensor<1x32xf32> -> tensor<1x32xf32>
  %c = tgraph.rope %y, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  func.return %c : tensor<1x32xf32>
}
