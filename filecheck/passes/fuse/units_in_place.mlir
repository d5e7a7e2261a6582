// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A latent row: the normed latent, then the rotated key that all heads share; it lands in its table.
// CHECK-LABEL: func.func @latent_row
func.func @latent_row(%x: tensor<1x96xf32>, %w: tensor<64xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>, %t: tensor<8x96xf32>) -> tensor<8x96xf32> {
  // CHECK-NEXT: %u = tgraph.fused row_in_place({{.*}}) -> (tensor<8x96xf32>) {
  // CHECK-NEXT:   %j = tgraph.fused units_in_place({{.*}}) -> (tensor<1x96xf32>) {
  // CHECK-NEXT:     %n = tgraph.fused part_in_place(
  // CHECK-NEXT:       tgraph.head_slice {{.*}} start 0
  // CHECK-NEXT:       tgraph.fused_row
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     %r = tgraph.fused part_in_place(
  // CHECK-NEXT:       tgraph.head_slice {{.*}} start 64
  // CHECK-NEXT:       tgraph.rope
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     %j_1 = tgraph.join %n, %r heads 1
  // CHECK-NEXT:     tgraph.yield %j_1
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.set_row %t_1, %j at
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %c = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %k = tgraph.head_slice %x start 64 width 32 every 96 : tensor<1x96xf32> -> tensor<1x32xf32>
  %r = tgraph.rope %k, %cos, %sin at %pos heads 1 head_dim 32 half 16
    : (tensor<1x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  %j = tgraph.join %n, %r heads 1 : (tensor<1x64xf32>, tensor<1x32xf32>) -> tensor<1x96xf32>
  %u = tgraph.set_row %t, %j at %pos : (tensor<8x96xf32>, tensor<1x96xf32>, tensor<1xi32>) -> tensor<8x96xf32>
  func.return %u : tensor<8x96xf32>
}

// A product a head and a norm of each head; then a joined head under another join.
// CHECK-LABEL: func.func @nested
func.func @nested(%x: tensor<2x64xf32>, %w: tensor<32xf32>, %m: !tgraph.rows<bf16, 64x32>, %a: tensor<2x64xf32>,
    %b: tensor<2x64xf32>) -> tensor<2x192xf32> {
  // CHECK-NEXT: %z = tgraph.fused units_in_place(
  // CHECK-NEXT:   %y = tgraph.fused units_in_place(
  // CHECK-NEXT:     tgraph.head_matmul
  // CHECK-NEXT:     tgraph.fused_row
  // CHECK-NEXT:     tgraph.join
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.join %a_1, %b_1 heads 2
  // CHECK-NEXT:   tgraph.join
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  %p = tgraph.head_matmul %x, %m heads 2 inputs 32 outputs 32
    : (tensor<2x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<2x64xf32>
  %n = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<2x64xf32>
  %y = tgraph.join %p, %n heads 2 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x128xf32>
  %o = tgraph.join %a, %b heads 2 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x128xf32>
  %z = tgraph.join %y, %o heads 2 : (tensor<2x128xf32>, tensor<2x128xf32>) -> tensor<2x256xf32>
  %v = tgraph.head_slice %z start 0 width 96 every 128 : tensor<2x256xf32> -> tensor<2x192xf32>
  func.return %v : tensor<2x192xf32>
}

// A product with its bias, by rows and by values; a mixture; whole rows are units.
// CHECK-LABEL: func.func @whole_rows
func.func @whole_rows(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>, %v: tensor<64x32xf32>,
    %r: !tgraph.rows<bf16, 4x64, transposed>, %wg: !tgraph.rows<bf16, 128x64, transposed>,
    %wd: !tgraph.rows<bf16, 256x32, transposed>) -> tensor<1x128xf32> {
  // CHECK:      %z = tgraph.fused units_in_place(
  // CHECK-NEXT:   tgraph.fused units_in_place(
  // CHECK-NEXT:     tgraph.fused gemm_bias(
  // CHECK:          }
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.join
  // CHECK:        tgraph.moe
  // CHECK:        tgraph.join
  // CHECK-NEXT:   tgraph.yield
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x32xf32>
  %0 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %1 = tgraph.elementwise add %0, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %2 = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %y = tgraph.join %1, %2 heads 1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x64xf32>
  %m = tgraph.moe softmax silu %x, %r, %wg, %wg, %wd experts 4 top_k 2 hidden 32
    : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
      !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %z = tgraph.join %y, %m heads 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  func.return %z : tensor<1x128xf32>
}

// Joins of joins of joins: two deep and no deeper.
// CHECK-LABEL: func.func @deep
func.func @deep(%x: tensor<1x64xf32>) -> tensor<1x256xf32> {
  // CHECK-NEXT: %c = tgraph.fused units_in_place(
  // CHECK:        tgraph.fused units_in_place(
  // CHECK:        tgraph.yield {{.*}} : tensor<1x192xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.fused_row
  // CHECK-NEXT: %d = tgraph.join %c,
  // CHECK-NEXT: func.return
  %0 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %b = tgraph.join %0, %1 heads 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %2 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %c = tgraph.join %b, %2 heads 1 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %3 = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %d = tgraph.join %c, %3 heads 1 : (tensor<1x192xf32>, tensor<1x64xf32>) -> tensor<1x256xf32>
  func.return %d : tensor<1x256xf32>
}

// -----

// CHECK-LABEL: func.func @operand_leaves
// CHECK-NOT: units_in_place
func.func @operand_leaves(%x: tensor<1x64xf32>, %w: tensor<32xf32>) -> (tensor<1x128xf32>, tensor<1x64xf32>) {
  %a = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %b = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %y = tgraph.join %a, %b heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  func.return %y, %a : tensor<1x128xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @operand_read
// CHECK-NOT: units_in_place
func.func @operand_read(%x: tensor<1x64xf32>, %w: tensor<32xf32>) -> (tensor<1x128xf32>, tensor<1x64xf32>) {
  %a = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %b = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %y = tgraph.join %a, %b heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %s = tgraph.silu %b : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y, %s : tensor<1x128xf32>, tensor<1x64xf32>
}

// Twice the same; one side that no launch places.
// CHECK-LABEL: func.func @one_side
// CHECK-NOT: units_in_place
func.func @one_side(%x: tensor<1x64xf32>, %w: tensor<32xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %a = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %y = tgraph.join %a, %a heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %b = tgraph.fused_row rms %x weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %z = tgraph.join %b, %x heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  func.return %y, %z : tensor<1x128xf32>, tensor<1x128xf32>
}

// Units that are not the join's heads: norms, rotations, products a head and joined heads of other widths; a product's
// row that is two of them.
// CHECK-LABEL: func.func @other_units
// CHECK-NOT: units_in_place
func.func @other_units(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %m: !tgraph.rows<bf16, 64x64>,
    %cos: tensor<8x8xf32>, %sin: tensor<8x8xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x192xf32>) {
  %0 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.fused_row rms %x cols 16 eps 1.000000e-06 : tensor<1x64xf32>
  %a = tgraph.join %0, %1 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %2 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %3 = tgraph.rope %x, %cos, %sin at %pos heads 4 head_dim 16 half 8
    : (tensor<1x64xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.join %2, %3 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %4 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %5 = tgraph.head_matmul %x, %m heads 1 inputs 64 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x64xf32>
  %c = tgraph.join %4, %5 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %6 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %7 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %d = tgraph.join %6, %7 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %8 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %9 = tgraph.join %x, %x heads 1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %e = tgraph.join %8, %9 heads 2 : (tensor<1x64xf32>, tensor<1x128xf32>) -> tensor<1x192xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x192xf32>
}

// Softmaxes and layer norms; what lands in a table.
// CHECK-LABEL: func.func @other_producers
// CHECK-NOT: units_in_place
func.func @other_producers(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %k: tensor<8x64xf32>,
    %l: tensor<8x64xf32>, %pos: tensor<1xi32>) -> (tensor<1x128xf32>, tensor<1x128xf32>, tensor<8x128xf32>) {
  %0 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.fused_row softmax %x cols 32 : tensor<1x64xf32>
  %a = tgraph.join %0, %1 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %2 = tgraph.fused_row rms %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %3 = tgraph.fused_row layernorm %x cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %b = tgraph.join %2, %3 heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %4 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %5 = tgraph.set_row %k, %4 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %6 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %7 = tgraph.set_row %l, %6 at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %c = tgraph.join %5, %7 heads 1 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x128xf32>
  func.return %a, %b, %c : tensor<1x128xf32>, tensor<1x128xf32>, tensor<8x128xf32>
}
