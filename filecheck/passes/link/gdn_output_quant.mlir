// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// The rule's result quantized; its state is moved on in place.

// CHECK-LABEL: func.func @gdn_output_quant(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<1x64>
// CHECK-NEXT: launch.delta(q = %x : memref<1x64xf32>, k = %x : memref<1x64xf32>, v = %x : memref<1x64xf32>, z = %x : memref<1x64xf32>, beta = %b : memref<1x2xf32>, decay = %d : memref<1x2xf32>, state = %s : memref<64x32xf32>, norm_weight = %hn : memref<32xf32>, quant = %q : !tgraph.q8<1x64>) {value_heads = 2 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e+00 : f32} covers [0, 1]
// CHECK-NEXT: func.return %q : !tgraph.q8<1x64>
// CHECK-NEXT: }
func.func @gdn_output_quant(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %b: tensor<1x2xf32>, %d: tensor<1x2xf32>, %s: tensor<64x32xf32> {tgraph.state = "s"}) -> (tensor<64x32xf32> {tgraph.carry = 5}, !tgraph.q8<1x64>) {
  %hn = tgraph.constant #tgraph.checkpoint<"hn"> : tensor<32xf32>
  %y, %s1 = tgraph.gated_delta silu %x, %x, %x, %x, %b, %d, %s, %hn value_heads 2 key_heads 2 head_dim 32 eps 1.0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  %q = tgraph.quantize %y : tensor<1x64xf32> -> !tgraph.q8<1x64>
  func.return %s1, %q : tensor<64x32xf32>, !tgraph.q8<1x64>
}
