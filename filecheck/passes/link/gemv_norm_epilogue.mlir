// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// A fold: the product, and the norm over what it wrote.

// CHECK-LABEL: func.func @gemv_norm_epilogue_0(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.norm(x = %a : memref<2x32xf32>, out = %n : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %n : memref<2x32xf32>, memref<2x32xf32>
func.func @gemv_norm_epilogue_0(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r, %r1 = tgraph.fused gemv_norm_epilogue(%x_1 = %x : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %n = tgraph.fused_row rms %a cols 32 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %a, %n : tensor<2x32xf32>, tensor<2x32xf32>
  }
  func.return %r, %r1 : tensor<2x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @gemv_norm_epilogue_1(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %n = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.norm(x = %a : memref<2x32xf32>, add = %y : memref<2x32xf32>, out = %n : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [1]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %n : memref<2x32xf32>
func.func @gemv_norm_epilogue_1(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemv_norm_epilogue(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %n = tgraph.fused_row rms %y_1 residual %a cols 32 eps 1.0 : tensor<2x32xf32>
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @gemv_norm_epilogue_2(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %a = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: %k = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.fold() {
// CHECK-NEXT: launch.gemv(x = %x : memref<2x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>, out = %a : memref<2x32xf32>) covers [0]
// CHECK-NEXT: launch.norm(x = %a : memref<2x32xf32>, add = %y : memref<2x32xf32>, out = %k : memref<2x32xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [1, 2]
// CHECK-NEXT: }
// CHECK-NEXT: func.return %k : memref<2x32xf32>
func.func @gemv_norm_epilogue_2(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %y: tensor<2x32xf32>) -> (tensor<2x32xf32>) {
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 32x32, transposed>
  %r = tgraph.fused gemv_norm_epilogue(%x_1 = %x : tensor<2x32xf32>, %y_1 = %y : tensor<2x32xf32>, %w_1 = %w : !tgraph.rows<bf16, 32x32, transposed>) -> (tensor<2x32xf32>) {
    %a = tgraph.matmul %x_1, %w_1 : (tensor<2x32xf32>, !tgraph.rows<bf16, 32x32, transposed>) -> tensor<2x32xf32>
    %n = tgraph.fused add_norm(%a_2 = %a : tensor<2x32xf32>, %y_2 = %y_1 : tensor<2x32xf32>) -> (tensor<2x32xf32>) {
      %s = tgraph.elementwise add %y_2, %a_2 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
      %k = tgraph.fused_row rms %s cols 32 eps 1.0 : tensor<2x32xf32>
      tgraph.yield %k : tensor<2x32xf32>
    }
    tgraph.yield %n : tensor<2x32xf32>
  }
  func.return %r : tensor<2x32xf32>
}
