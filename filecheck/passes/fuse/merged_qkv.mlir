// RUN: lanelink-opt %s -p fuse --split-input-file | filecheck %s

// Query turned, key turned and landing, value landing; a constant between them does not part them.
// CHECK-LABEL: func.func @qkv
func.func @qkv(%x: tensor<1x64xf32>, %wq: !tgraph.rows<bf16, 128x64, transposed>,
    %wk: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>, %sin: tensor<8x16xf32>, %pos: tensor<1xi32>,
    %k: tensor<8x64xf32>, %v: tensor<8x64xf32>) -> (tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK-NEXT: %wv = tgraph.constant
  // CHECK-NEXT: %q, %kt, %vt = tgraph.fused merged_qkv(
  // CHECK-NEXT:   tgraph.fused qkv_head_epilogue(
  // CHECK-NEXT:     tgraph.matmul {{.*}} number 0
  // CHECK-NEXT:     tgraph.rope {{.*}} number 1
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused qkv_head_epilogue(
  // CHECK-NEXT:     tgraph.matmul {{.*}} number 2
  // CHECK-NEXT:     tgraph.fused row_in_place(
  // CHECK-NEXT:       tgraph.rope {{.*}} number 3
  // CHECK-NEXT:       tgraph.set_row {{.*}} number 5
  // CHECK-NEXT:       tgraph.yield
  // CHECK-NEXT:     }
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.fused row_in_place(
  // CHECK-NEXT:     tgraph.matmul {{.*}} number 4
  // CHECK-NEXT:     tgraph.set_row {{.*}} number 6
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield %q_1, %kt_1, %vt_1 : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %q, %kt, %vt
  %0 = tgraph.matmul %x, %wq number 0 : (tensor<1x64xf32>, !tgraph.rows<bf16, 128x64, transposed>) -> tensor<1x128xf32>
  %q = tgraph.rope %0, %cos, %sin at %pos heads 4 head_dim 32 half 16 number 1
    : (tensor<1x128xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
  %1 = tgraph.matmul %x, %wk number 2 : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %2 = tgraph.rope %1, %cos, %sin at %pos heads 2 head_dim 32 half 16 number 3
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %wv = tgraph.constant #tgraph.checkpoint<"v"> : !tgraph.rows<bf16, 64x64, transposed>
  %3 = tgraph.matmul %x, %wv number 4 : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %kt = tgraph.set_row %k, %2 at %pos number 5 : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  %vt = tgraph.set_row %v, %3 at %pos number 6 : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %q, %kt, %vt : tensor<1x128xf32>, tensor<8x64xf32>, tensor<8x64xf32>
}

// Products as they are, one with its bias; the first reader stands after the first product: they meet there.
// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>,
    %v: !tgraph.rows<bf16, 64x64, transposed>) -> (tensor<1x32xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: tgraph.constant
  // CHECK-NEXT: %y, %s = tgraph.fused merged_qkv(
  // CHECK-NEXT:   tgraph.matmul
  // CHECK-NEXT:   tgraph.fused gemm_bias(
  // CHECK-NEXT:     tgraph.matmul
  // CHECK-NEXT:     tgraph.elementwise add
  // CHECK-NEXT:     tgraph.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tgraph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tgraph.silu %y
  // CHECK-NEXT: func.return
  %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %a = tgraph.silu %y : tensor<1x32xf32> -> tensor<1x32xf32>
  %b = tgraph.constant #tgraph.checkpoint<"bias"> : tensor<1x64xf32>
  %z = tgraph.matmul %x, %v : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %s = tgraph.elementwise add %z, %b : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %a, %s : tensor<1x32xf32>, tensor<1x64xf32>
}

// Six products: four to a launch, then two.
// CHECK-LABEL: func.func @six
func.func @six(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  // CHECK-NEXT: %a, %b, %c, %d = tgraph.fused merged_qkv(
  // CHECK:      }
  // CHECK-NEXT: %e, %f = tgraph.fused merged_qkv(
  // CHECK:      }
  // CHECK-NEXT: func.return
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %b = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %c = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %d = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %e = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %f = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  func.return %a, %b, %c, %d, %e, %f
    : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func.func @two_activations
// CHECK-NOT: tgraph.fused
func.func @two_activations(%x: tensor<1x64xf32>, %y: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %b = tgraph.matmul %y, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  func.return %a, %b : tensor<1x32xf32>, tensor<1x32xf32>
}

// Two formats, values, rows that are not the outputs: each alone.
// CHECK-LABEL: func.func @two_formats
// CHECK-NOT: tgraph.fused
func.func @two_formats(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 32x64, transposed>,
    %h: !tgraph.rows<f16, 32x64, transposed>, %r: !tgraph.rows<bf16, 64x32>, %v: tensor<64x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
  %b = tgraph.matmul %x, %h : (tensor<1x64xf32>, !tgraph.rows<f16, 32x64, transposed>) -> tensor<1x32xf32>
  %c = tgraph.matmul %x, %r : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32>) -> tensor<1x32xf32>
  %d = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %e = tgraph.matmul %x, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
}

// One is turned by other tables: it opens the next launch, which the one after it joins.
// CHECK-LABEL: func.func @other_tables
func.func @other_tables(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %cos2: tensor<8x16xf32>, %pos: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NEXT: %a = tgraph.fused qkv_head_epilogue(
  // CHECK:      }
  // CHECK-NEXT: %b, %c = tgraph.fused merged_qkv(
  // CHECK-NEXT:   tgraph.fused qkv_head_epilogue(
  // CHECK:        tgraph.matmul
  // CHECK:        tgraph.matmul
  // CHECK-NEXT:   tgraph.yield
  %0 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %a = tgraph.rope %0, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %1 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %b = tgraph.rope %1, %cos2, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %c = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  func.return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// Heads of another size, another position.
// CHECK-LABEL: func.func @other_turns
// CHECK-NOT: merged_qkv
func.func @other_turns(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %cos: tensor<8x16xf32>,
    %sin: tensor<8x16xf32>, %pos: tensor<1xi32>, %pos2: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %a = tgraph.rope %0, %cos, %sin at %pos heads 2 head_dim 32 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %1 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %b = tgraph.rope %1, %cos, %sin at %pos heads 1 head_dim 64 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  %2 = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %c = tgraph.rope %2, %cos, %sin at %pos2 heads 1 head_dim 64 half 16
    : (tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  func.return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// The second lands in the table that the first landed in.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-NOT: merged_qkv
func.func @one_after_the_other(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %pos: tensor<1xi32>,
    %k: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %a row 0 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  %b = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %u = tgraph.set_row %t, %b at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %u : tensor<8x64xf32>
}

// The second lands in a table made from what reads the first: no place suits both.
// CHECK-LABEL: func.func @through_a_reader
// CHECK-NOT: merged_qkv
func.func @through_a_reader(%x: tensor<1x64xf32>, %w: !tgraph.rows<bf16, 64x64, transposed>, %pos: tensor<1xi32>,
    %k: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %a = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %r = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = tgraph.set_row %k, %r row 0 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  %b = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x64, transposed>) -> tensor<1x64xf32>
  %u = tgraph.set_row %t, %b at %pos : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<8x64xf32>
  func.return %u : tensor<8x64xf32>
}
