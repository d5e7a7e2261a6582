// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// Absorbed latent attention of a decoding step. As its parts it is four launches: the absorbed and the rotated part of
// the query written where the attention reads them, the attention with its values read in the key rows, the expansion.
// CHECK-LABEL: func.func @decode
func.func @decode(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %o = tgraph.fused mla(%q_1 = %q : {{.*}}, %cos_1 = %cos : {{.*}}, %sin_1 = %sin : {{.*}}, %p_1 = %p : {{.*}}, %kb_1 = %kb : {{.*}}, %t_1 = %t : {{.*}}, %vb_1 = %vb : {{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %j = tgraph.fused units_in_place(
  // CHECK-NEXT:     tgraph.fused part_in_place(
  // CHECK-NEXT:       tgraph.head_slice {{.*}} start 32
  // CHECK-NEXT:       tgraph.rope
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.fused part_in_place(
  // CHECK-NEXT:       tgraph.head_slice {{.*}} start 0
  // CHECK-NEXT:       tgraph.head_matmul
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.join
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %a = tgraph.fused part_in_place(
  // CHECK-NEXT:     tgraph.head_slice
  // CHECK-NEXT:     tgraph.attention
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.head_matmul %a, %vb_1
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %o
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// A chunk; both matrices by outputs in blocks, their activations quantized.
// CHECK-LABEL: func.func @chunk_quantized
func.func @chunk_quantized(%q: tensor<3x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<q8_0, 128x32, transposed>,
    %vb: !tgraph.rows<q8_0, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<3x64xf32> {
  // CHECK-NEXT: %o = tgraph.fused mla({{.*}}) -> (tensor<3x64xf32>) {
  // CHECK-NEXT:   %n = tgraph.head_slice
  // CHECK-NEXT:   %n_q8 = tgraph.quantize %n
  // CHECK-NEXT:   tgraph.fused units_in_place(
  // CHECK:          tgraph.head_matmul %n_q8_1
  // CHECK:        %a_q8 = tgraph.fused attn_output_quant(
  // CHECK-NEXT:     tgraph.fused part_in_place(
  // CHECK:          tgraph.quantize
  // CHECK:        tgraph.head_matmul %a_q8
  // CHECK-NEXT:   tgraph.yield
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<3x128xf32> -> tensor<3x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<3x128xf32> -> tensor<3x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<3x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<3x64xf32>
  %n_q8 = tgraph.quantize %n : tensor<3x64xf32> -> !tgraph.q8<3x64>
  %b = tgraph.head_matmul %n_q8, %kb heads 2 inputs 32 outputs 64
    : (!tgraph.q8<3x64>, !tgraph.rows<q8_0, 128x32, transposed>) -> tensor<3x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<3x128xf32>, tensor<3x64xf32>) -> tensor<3x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<3x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<3x128xf32>
  %a_q8 = tgraph.quantize %a : tensor<3x128xf32> -> !tgraph.q8<3x128>
  %o = tgraph.head_matmul %a_q8, %vb heads 2 inputs 64 outputs 32
    : (!tgraph.q8<3x128>, !tgraph.rows<q8_0, 64x64, transposed>) -> tensor<3x64xf32>
  func.return %o : tensor<3x64xf32>
}

// The rotated part of the query comes from elsewhere: it is taken in.
// CHECK-LABEL: func.func @rotated_elsewhere
func.func @rotated_elsewhere(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>, %r: tensor<1x64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %o = tgraph.fused mla({{.*}}%r_1 = %r{{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %b = tgraph.fused part_in_place(
  // CHECK:        %j = tgraph.join %b, %r_1
  // CHECK-NEXT:   %a = tgraph.fused part_in_place(
  // CHECK:        tgraph.head_matmul %a
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// The unrotated part is a product's of its own: it is taken in.
// CHECK-LABEL: func.func @unrotated_alone
func.func @unrotated_alone(%x: tensor<1x64xf32>, %wn: !tgraph.rows<bf16, 64x64, transposed>, %r: tensor<1x64xf32>, %t: tensor<8x96xf32>,
    %kb: !tgraph.rows<bf16, 64x64>, %vb: !tgraph.rows<bf16, 64x64, transposed>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %n = tgraph.matmul
  // CHECK-NEXT: %o = tgraph.fused mla(%n_1 = %n : {{.*}}) -> (tensor<1x64xf32>) {
  // CHECK-NEXT:   %b = tgraph.head_matmul %n_1
  // CHECK-NEXT:   %j = tgraph.join %b
  // CHECK-NEXT:   %a = tgraph.fused part_in_place(
  // CHECK:        tgraph.head_matmul %a
  %n = tgraph.matmul %x, %wn : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// -----

// A window, a soft cap, sinks: no expanded attention has them.
// CHECK-LABEL: func.func @windowed
// CHECK-NOT: fused mla
func.func @windowed(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 window 4 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @softcapped
// CHECK-NOT: fused mla
func.func @softcapped(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01 softcap 3.000000e+01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @sinks
// CHECK-NOT: fused mla
func.func @sinks(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>, %s: tensor<2xf32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p sinks %s : tensor<2xf32> heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// No position; matrices that are plain values.
// CHECK-LABEL: func.func @no_position
// CHECK-NOT: fused mla
func.func @no_position(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @key_values
// CHECK-NOT: fused mla
func.func @key_values(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: tensor<64x64xf32>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @value_values
// CHECK-NOT: fused mla
func.func @value_values(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: tensor<128x32xf32>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, tensor<128x32xf32>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// The values are not the first of each row; they are another table's; the rotated part comes first.
// CHECK-LABEL: func.func @later_values
// CHECK-NOT: fused mla
func.func @later_values(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 32 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_table
// CHECK-NOT: fused mla
func.func @other_table(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>, %u: tensor<8x96xf32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %u start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_order
// CHECK-NOT: fused mla
func.func @other_order(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %r, %b heads 2 : (tensor<1x64xf32>, tensor<1x128xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// The absorbed part is narrower than the latent values; heads that differ; the latent part read by another head count.
// CHECK-LABEL: func.func @join_of_another_width
// CHECK-NOT: fused mla
func.func @join_of_another_width(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x32>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>, %w: tensor<1x128xf32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 32
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x64xf32>
  %j = tgraph.join %b, %w heads 2 : (tensor<1x64xf32>, tensor<1x128xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_heads
// CHECK-NOT: fused mla
func.func @other_heads(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x128, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 1 inputs 128 outputs 64
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @two_key_heads
// CHECK-NOT: fused mla
func.func @two_key_heads(%q: tensor<1x128xf32>, %t: tensor<8x192xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x192xf32> -> tensor<8x128xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 2 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x192xf32>, tensor<8x128xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// The unrotated part is quantized by the product it comes of.
// CHECK-LABEL: func.func @quantized_by_its_product
// CHECK-NOT: fused mla
func.func @quantized_by_its_product(%x: tensor<1x64xf32>, %wn: !tgraph.rows<q8_0, 64x64, transposed>, %r: tensor<1x64xf32>, %t: tensor<8x96xf32>,
    %kb: !tgraph.rows<q8_0, 128x32, transposed>, %vb: !tgraph.rows<bf16, 64x64, transposed>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.matmul %x, %wn : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x64, transposed>) -> tensor<1x64xf32>
  %n_q8 = tgraph.quantize %n : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %b = tgraph.head_matmul %n_q8, %kb heads 2 inputs 32 outputs 64
    : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x32, transposed>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// Slices that are no heads.
// CHECK-LABEL: func.func @slices_of_half_heads
// CHECK-NOT: fused mla
func.func @slices_of_half_heads(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 16 every 32 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}

// What it would drop leaves.
// CHECK-LABEL: func.func @absorbed_leaves
// CHECK-NOT: fused mla
func.func @absorbed_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x128xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %b : tensor<1x64xf32>, tensor<1x128xf32>
}

// CHECK-LABEL: func.func @joined_leaves
// CHECK-NOT: fused mla
func.func @joined_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x192xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %j : tensor<1x64xf32>, tensor<1x192xf32>
}

// CHECK-LABEL: func.func @values_leaves
// CHECK-NOT: fused mla
func.func @values_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<8x64xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %v : tensor<1x64xf32>, tensor<8x64xf32>
}

// CHECK-LABEL: func.func @attended_leaves
// CHECK-NOT: fused mla
func.func @attended_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x128xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %a : tensor<1x64xf32>, tensor<1x128xf32>
}

// CHECK-LABEL: func.func @unrotated_leaves
// CHECK-NOT: fused mla
func.func @unrotated_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %n : tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @f32_attended_leaves
// CHECK-NOT: fused mla
func.func @f32_attended_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<q8_0, 128x32, transposed>,
    %vb: !tgraph.rows<q8_0, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1x128xf32>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %n_q8 = tgraph.quantize %n : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %b = tgraph.head_matmul %n_q8, %kb heads 2 inputs 32 outputs 64
    : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x32, transposed>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %a_q8 = tgraph.quantize %a : tensor<1x128xf32> -> !tgraph.q8<1x128>
  %o = tgraph.head_matmul %a_q8, %vb heads 2 inputs 64 outputs 32
    : (!tgraph.q8<1x128>, !tgraph.rows<q8_0, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %a : tensor<1x64xf32>, tensor<1x128xf32>
}

// CHECK-LABEL: func.func @quantized_leaves
// CHECK-NOT: fused mla
func.func @quantized_leaves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<q8_0, 128x32, transposed>,
    %vb: !tgraph.rows<q8_0, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> (tensor<1x64xf32>, !tgraph.q8<1x64>) {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %n_q8 = tgraph.quantize %n : tensor<1x64xf32> -> !tgraph.q8<1x64>
  %b = tgraph.head_matmul %n_q8, %kb heads 2 inputs 32 outputs 64
    : (!tgraph.q8<1x64>, !tgraph.rows<q8_0, 128x32, transposed>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %a_q8 = tgraph.quantize %a : tensor<1x128xf32> -> !tgraph.q8<1x128>
  %o = tgraph.head_matmul %a_q8, %vb heads 2 inputs 64 outputs 32
    : (!tgraph.q8<1x128>, !tgraph.rows<q8_0, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o, %n_q8 : tensor<1x64xf32>, !tgraph.q8<1x64>
}

// CHECK-LABEL: func.func @values_in_halves
// CHECK-NOT: fused mla
func.func @values_in_halves(%q: tensor<1x128xf32>, %t: tensor<8x96xf32>, %kb: !tgraph.rows<bf16, 64x64>,
    %vb: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %p: tensor<1xi32>) -> tensor<1x64xf32> {
  %n = tgraph.head_slice %q start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %e = tgraph.head_slice %q start 32 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
  %r = tgraph.rope %e, %cos, %sin at %p heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 64
    : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64>) -> tensor<1x128xf32>
  %j = tgraph.join %b, %r heads 2 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %v = tgraph.head_slice %t start 0 width 32 every 48 : tensor<8x96xf32> -> tensor<8x64xf32>
  %a = tgraph.attention %j, %t, %v at %p heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01
    : tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> tensor<1x128xf32>
  %o = tgraph.head_matmul %a, %vb heads 2 inputs 64 outputs 32
    : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %o : tensor<1x64xf32>
}
