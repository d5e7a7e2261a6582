// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// A norm of a row's first part, as a latent's.
// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<2x96xf32>, %w: tensor<64xf32>) -> tensor<2x64xf32> {
  // CHECK-NEXT: %n = tgraph.fused part_in_place(%x_1 = %x : {{.*}}, %w_1 = %w : {{.*}}) -> (tensor<2x64xf32>) {
  // CHECK-NEXT:   %c = tgraph.head_slice %x_1 start 0 width 64 every 96
  // CHECK-NEXT:   %n_1 = tgraph.fused_row rms %c
  // CHECK-NEXT:   tgraph.yield %n_1
  // CHECK-NEXT: }
  %c = tgraph.head_slice %x start 0 width 64 every 96 : tensor<2x96xf32> -> tensor<2x64xf32>
  %n = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<2x64xf32>
  func.return %n : tensor<2x64xf32>
}

// Heads that hold a query and its gate: a norm of each query, and its rotation; a rotation alone, landing in a table.
// CHECK-LABEL: func.func @rotations
func.func @rotations(%x: tensor<1x128xf32>, %w: tensor<32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>, %k: tensor<8x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<8x64xf32>) {
  // CHECK-NEXT: %a = tgraph.fused part_in_place(
  // CHECK-NEXT:   tgraph.head_slice %x_1 start 0
  // CHECK-NEXT:   tgraph.fused_row rms
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %c, %t = tgraph.fused rope_qk_one_launch(
  // CHECK-NEXT:   tgraph.fused part_in_place(
  // CHECK-NEXT:     tgraph.head_slice {{.*}} start 0
  // CHECK-NEXT:     tgraph.fused qk_norm_rope(
  // CHECK-NEXT:       tgraph.fused_row rms
  // CHECK-NEXT:       tgraph.rope
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused row_in_place(
  // CHECK-NEXT:     tgraph.fused part_in_place(
  // CHECK-NEXT:       tgraph.head_slice {{.*}} start 32
  // CHECK-NEXT:       tgraph.rope
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.set_row
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  %0 = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %a = tgraph.fused_row rms %0 weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %b = tgraph.fused_row rms %1 weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  %c = tgraph.rope %b, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %2 = tgraph.head_slice %x start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %d = tgraph.rope %2, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %d at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %a, %c, %t : tensor<1x64xf32>, tensor<1x64xf32>, tensor<8x64xf32>
}

// A product a head; an attention whose values are the first of each key; both quantized.
// CHECK-LABEL: func.func @products_and_values
func.func @products_and_values(%x: tensor<1x128xf32>, %w: !tgraph.rows<bf16, 64x64>, %k: tensor<8x96xf32>,
    %pos: tensor<1xi32>) -> (tensor<1x128xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: tgraph.fused part_in_place(
  // CHECK-NEXT:   tgraph.head_slice %x_1 start 32 width 32 every 64
  // CHECK-NEXT:   tgraph.head_matmul
  // CHECK:      tgraph.fused part_in_place(
  // CHECK-NEXT:   %v = tgraph.head_slice %k_1 start 0 width 32 every 48
  // CHECK-NEXT:   tgraph.attention {{.*}}, %k_1, %v at
  %0 = tgraph.head_slice %x start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %a = tgraph.head_matmul %0, %w heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %q = tgraph.head_slice %x start 0 width 48 every 64 : tensor<1x128xf32> -> tensor<1x96xf32>
  %v = tgraph.head_slice %k start 0 width 32 every 48 : tensor<8x96xf32> -> tensor<8x64xf32>
  %b = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 2 head_dim 48 value_dim 32
    : tensor<1x96xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  func.return %a, %b : tensor<1x128xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<1x96xf32>, %w: tensor<64xf32>, %q: tensor<1x96xf32>, %k: tensor<8x96xf32>,
    %pos: tensor<1xi32>) -> (!tgraph.q8<1x64>, !tgraph.q8<1x64>) {
  // CHECK-NEXT: tgraph.fused norm_quant(
  // CHECK-NEXT:   tgraph.fused part_in_place(
  // CHECK:        tgraph.quantize
  // CHECK:      tgraph.fused attn_output_quant(
  // CHECK-NEXT:   tgraph.fused part_in_place(
  // CHECK:        tgraph.quantize
  %c = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %a = tgraph.quantize %n : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %v = tgraph.head_slice %k start 0 width 32 every 48 : tensor<8x96xf32> -> tensor<8x64xf32>
  %y = tgraph.attention %q, %k, %v at %pos heads 2 kv_heads 2 head_dim 48 value_dim 32
    : tensor<1x96xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %b = tgraph.quantize %y : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %a, %b : !tgraph.q8<1x64>, !tgraph.q8<1x64>
}

// Each of two slices has a reader of its own; a gate's is read by what reads no part in place.
// CHECK-LABEL: func.func @two_slices
func.func @two_slices(%x: tensor<1x128xf32>, %w: tensor<32xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %g = tgraph.head_slice
  // CHECK-NEXT: %s = tgraph.sigmoid %g
  // CHECK-NEXT: %n = tgraph.fused part_in_place(
  %q = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %g = tgraph.head_slice %x start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %s = tgraph.sigmoid %g : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %q weight %w : tensor<32xf32> cols 32 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %n, %s : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// CHECK-LABEL: func.func @slice_leaves
// CHECK-NOT: part_in_place
func.func @slice_leaves(%x: tensor<1x96xf32>, %w: tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  func.return %n, %c : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @slice_read
// CHECK-NOT: part_in_place
func.func @slice_read(%x: tensor<1x96xf32>, %w: tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %c = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %n = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %m = tgraph.fused_row rms %c weight %w : tensor<64xf32> cols 64 eps 1.000000e-05 : tensor<1x64xf32>
  func.return %n, %m : tensor<1x64xf32>, tensor<1x64xf32>
}

// A slice of two heads, a slice of half a head: a norm, a rotation, a product a head.
// CHECK-LABEL: func.func @other_units
// CHECK-NOT: part_in_place
func.func @other_units(%x: tensor<1x128xf32>, %w: tensor<16xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>,
    %pos: tensor<1xi32>, %u: !tgraph.rows<bf16, 64x64>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %a = tgraph.fused_row rms %0 weight %w : tensor<16xf32> cols 16 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.head_slice %x start 0 width 64 every 128 : tensor<1x128xf32> -> tensor<1x64xf32>
  %b = tgraph.rope %1, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %2 = tgraph.head_slice %x start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %c = tgraph.head_matmul %2, %u heads 1 inputs 64 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x64xf32>
  func.return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Layer norms and softmaxes; a norm with a residual; what is a residual; a product of the whole row.
// CHECK-LABEL: func.func @other_readers
// CHECK-NOT: part_in_place
func.func @other_readers(%x: tensor<1x96xf32>, %w: tensor<64xf32>, %y: tensor<1x64xf32>,
    %u: !tgraph.rows<bf16, 64x64, transposed>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %a = tgraph.fused_row layernorm %0 cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %1 = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %b = tgraph.fused_row softmax %1 cols 64 : tensor<1x64xf32>
  %2 = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %c = tgraph.fused_row rms %2 residual %y cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %3 = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %d = tgraph.fused_row rms %y residual %3 cols 64 eps 1.000000e-06 : tensor<1x64xf32>
  %4 = tgraph.head_slice %x start 0 width 64 every 96 : tensor<1x96xf32> -> tensor<1x64xf32>
  %e = tgraph.matmul %4, %u : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Values of another table; keys that are sliced; a slice that crosses the key heads; a query that is sliced.
// CHECK-LABEL: func.func @other_values
// CHECK-NOT: part_in_place
func.func @other_values(%q: tensor<1x96xf32>, %k: tensor<8x96xf32>, %l: tensor<8x96xf32>, %pos: tensor<1xi32>,
    %x: tensor<1x192xf32>, %v: tensor<8x48xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x48xf32>, tensor<1x96xf32>) {
  %0 = tgraph.head_slice %l start 0 width 32 every 48 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %q, %k, %0 at %pos heads 2 kv_heads 2 head_dim 48 value_dim 32
    : tensor<1x96xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %1 = tgraph.head_slice %k start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %b = tgraph.attention %q, %k, %1 at %pos heads 2 kv_heads 2 head_dim 48 value_dim 32
    : tensor<1x96xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x64xf32>
  %2 = tgraph.head_slice %x start 0 width 96 every 192 : tensor<1x192xf32> -> tensor<1x96xf32>
  %c = tgraph.attention %2, %k, %v at %pos heads 2 kv_heads 2 head_dim 48 value_dim 24
    : tensor<1x96xf32>, tensor<8x96xf32>, tensor<8x48xf32> -> tensor<1x48xf32>
  %3 = tgraph.head_slice %k start 0 width 24 every 48 : tensor<8x96xf32> -> tensor<8x48xf32>
  %d = tgraph.attention %q, %3, %v at %pos heads 4 kv_heads 2 head_dim 24 value_dim 24
    : tensor<1x96xf32>, tensor<8x48xf32>, tensor<8x48xf32> -> tensor<1x96xf32>
  func.return %a, %b, %c, %d : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x48xf32>, tensor<1x96xf32>
}
