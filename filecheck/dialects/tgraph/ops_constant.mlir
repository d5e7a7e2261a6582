// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Constants: checkpoint rows of every format, values, rotation tables; names and numbers that text could bend.

// CHECK-LABEL: func.func @rows(
// GENERIC-LABEL: sym_name = "rows"
func.func @rows() {
  // One checkpoint row is one output where transposed.
  // CHECK-NEXT: %w = tgraph.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
  // GENERIC-NEXT: %w = "tgraph.constant"() <{source = #tgraph.checkpoint<"lm_head.weight">}> : () -> !tgraph.rows<bf16, 256x128, transposed>
  %w = tgraph.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
  // CHECK-NEXT: %e = tgraph.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128>
  // GENERIC-NEXT: %e = "tgraph.constant"() <{source = #tgraph.checkpoint<"lm_head.weight">}> : () -> !tgraph.rows<bf16, 256x128>
  %e = tgraph.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128>
  // CHECK-NEXT: %wf32 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<f32, 3x256, transposed>
  // GENERIC-NEXT: %wf32 = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<f32, 3x256, transposed>
  %wf32 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<f32, 3x256, transposed>
  // CHECK-NEXT: %wf16 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<f16, 3x256, transposed>
  // GENERIC-NEXT: %wf16 = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<f16, 3x256, transposed>
  %wf16 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<f16, 3x256, transposed>
  // CHECK-NEXT: %wq80 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 3x256, transposed>
  // GENERIC-NEXT: %wq80 = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<q8_0, 3x256, transposed>
  %wq80 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 3x256, transposed>
  // CHECK-NEXT: %wq40 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_0, 3x256, transposed>
  // GENERIC-NEXT: %wq40 = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<q4_0, 3x256, transposed>
  %wq40 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_0, 3x256, transposed>
  // CHECK-NEXT: %wq4k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_k, 3x256, transposed>
  // GENERIC-NEXT: %wq4k = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<q4_k, 3x256, transposed>
  %wq4k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q4_k, 3x256, transposed>
  // CHECK-NEXT: %wq5k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q5_k, 3x256, transposed>
  // GENERIC-NEXT: %wq5k = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<q5_k, 3x256, transposed>
  %wq5k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q5_k, 3x256, transposed>
  // CHECK-NEXT: %wq6k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q6_k, 3x256, transposed>
  // GENERIC-NEXT: %wq6k = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<q6_k, 3x256, transposed>
  %wq6k = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q6_k, 3x256, transposed>
  // CHECK-NEXT: %wmxfp4 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<mxfp4, 3x256, transposed>
  // GENERIC-NEXT: %wmxfp4 = "tgraph.constant"() <{source = #tgraph.checkpoint<"w">}> : () -> !tgraph.rows<mxfp4, 3x256, transposed>
  %wmxfp4 = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<mxfp4, 3x256, transposed>
  func.return
}

// CHECK-LABEL: func.func @values(
// GENERIC-LABEL: sym_name = "values"
func.func @values() {
  // CHECK-NEXT: %n = tgraph.constant #tgraph.checkpoint<"model.norm.weight"> : tensor<128xf32>
  // GENERIC-NEXT: %n = "tgraph.constant"() <{source = #tgraph.checkpoint<"model.norm.weight">}> : () -> tensor<128xf32>
  %n = tgraph.constant #tgraph.checkpoint<"model.norm.weight"> : tensor<128xf32>
  // CHECK-NEXT: %b = tgraph.constant #tgraph.checkpoint<"q.bias"> : tensor<1x64xf32>
  // GENERIC-NEXT: %b = "tgraph.constant"() <{source = #tgraph.checkpoint<"q.bias">}> : () -> tensor<1x64xf32>
  %b = tgraph.constant #tgraph.checkpoint<"q.bias"> : tensor<1x64xf32>
  // CHECK-NEXT: %s = tgraph.constant #tgraph.checkpoint<"scale"> : tensor<f32>
  // GENERIC-NEXT: %s = "tgraph.constant"() <{source = #tgraph.checkpoint<"scale">}> : () -> tensor<f32>
  %s = tgraph.constant #tgraph.checkpoint<"scale"> : tensor<f32>
  func.return
}

// CHECK-LABEL: func.func @names(
// GENERIC-LABEL: sym_name = "names"
func.func @names() {
  // A newline, a quote, a backslash and two bytes of UTF-8.
  // CHECK-NEXT: %w = tgraph.constant #tgraph.checkpoint<"a\0Ab\22c\\d\C3\A9"> : tensor<2xf32>
  // GENERIC-NEXT: %w = "tgraph.constant"() <{source = #tgraph.checkpoint<"a\0Ab\22c\\d\C3\A9">}> : () -> tensor<2xf32>
  %w = tgraph.constant #tgraph.checkpoint<"a\0Ab\22c\\d\C3\A9"> : tensor<2xf32>
  func.return
}

// CHECK-LABEL: func.func @rope_tables(
// GENERIC-LABEL: sym_name = "rope_tables"
func.func @rope_tables() {
  // CHECK-NEXT: %c = tgraph.constant #tgraph.rope_table<cos, [1.000000e+00, 5.000000e-01], scale 1.000000e+00> : tensor<64x2xf32>
  // GENERIC-NEXT: %c = "tgraph.constant"() <{source = #tgraph.rope_table<cos, [1.000000e+00, 5.000000e-01], scale 1.000000e+00>}> : () -> tensor<64x2xf32>
  %c = tgraph.constant #tgraph.rope_table<cos, [1.000000e+00, 5.000000e-01], scale 1.000000e+00> : tensor<64x2xf32>
  // CHECK-NEXT: %s = tgraph.constant #tgraph.rope_table<sin, [1.000000e+00, 5.000000e-01], scale 1.250000e+00> : tensor<64x2xf32>
  // GENERIC-NEXT: %s = "tgraph.constant"() <{source = #tgraph.rope_table<sin, [1.000000e+00, 5.000000e-01], scale 1.250000e+00>}> : () -> tensor<64x2xf32>
  %s = tgraph.constant #tgraph.rope_table<sin, [1.000000e+00, 5.000000e-01], scale 1.250000e+00> : tensor<64x2xf32>
  // Nine digits where six do not give the f32 back.
  // CHECK-NEXT: %d = tgraph.constant #tgraph.rope_table<cos, [0.100000009, 1.17549435e-38, 0.000000e+00, 62690.6055], scale 0.333333343> : tensor<8x4xf32>
  // GENERIC-NEXT: %d = "tgraph.constant"() <{source = #tgraph.rope_table<cos, [0.100000009, 1.17549435e-38, 0.000000e+00, 62690.6055], scale 0.333333343>}> : () -> tensor<8x4xf32>
  %d = tgraph.constant #tgraph.rope_table<cos, [0.100000009, 1.17549435e-38, 0.000000e+00, 62690.6055], scale 0.333333343> : tensor<8x4xf32>
  func.return
}

// What stands between a constant and the stored tensors: a series of them, a view, an adjustment.

// CHECK-LABEL: func.func @parts(
// GENERIC-LABEL: sym_name = "parts"
func.func @parts() {
  // CHECK-NEXT: %experts = tgraph.constant #tgraph.checkpoint<"experts.*.up", tensors 8> : !tgraph.rows<bf16, 512x128, transposed>
  // GENERIC-NEXT: %experts = "tgraph.constant"() <{source = #tgraph.checkpoint<"experts.*.up", tensors 8>}> : () -> !tgraph.rows<bf16, 512x128, transposed>
  %experts = tgraph.constant #tgraph.checkpoint<"experts.*.up", tensors 8> : !tgraph.rows<bf16, 512x128, transposed>
  // CHECK-NEXT: %turned = tgraph.constant #tgraph.checkpoint<"q", rows offset 0 sizes [4, 2, 16] strides [32, 1, 2]> : !tgraph.rows<q8_0, 128x64, transposed>
  // GENERIC-NEXT: source = #tgraph.checkpoint<"q", rows offset 0 sizes [4, 2, 16] strides [32, 1, 2]>
  %turned = tgraph.constant #tgraph.checkpoint<"q", rows offset 0 sizes [4, 2, 16] strides [32, 1, 2]> : !tgraph.rows<q8_0, 128x64, transposed>
  // CHECK-NEXT: %odd = tgraph.constant #tgraph.checkpoint<"gate_up", values offset 1 sizes [4, 64, 96] strides [12288, 2, 128]> : !tgraph.rows<bf16, 256x96>
  // GENERIC-NEXT: source = #tgraph.checkpoint<"gate_up", values offset 1 sizes [4, 64, 96] strides [12288, 2, 128]>
  %odd = tgraph.constant #tgraph.checkpoint<"gate_up", values offset 1 sizes [4, 64, 96] strides [12288, 2, 128]> : !tgraph.rows<bf16, 256x96>
  // CHECK-NEXT: %norm = tgraph.constant #tgraph.checkpoint<"norm", plus_one> : tensor<64xf32>
  // GENERIC-NEXT: source = #tgraph.checkpoint<"norm", plus_one>
  %norm = tgraph.constant #tgraph.checkpoint<"norm", plus_one> : tensor<64xf32>
  // CHECK-NEXT: %all = tgraph.constant #tgraph.checkpoint<"a.*", tensors 1, values offset 3 sizes [2] strides [5], log_negated> : tensor<1x2xf32>
  // GENERIC-NEXT: source = #tgraph.checkpoint<"a.*", tensors 1, values offset 3 sizes [2] strides [5], log_negated>
  %all = tgraph.constant #tgraph.checkpoint<"a.*", tensors 1, values offset 3 sizes [2] strides [5], log_negated> : tensor<1x2xf32>
  func.return
}
