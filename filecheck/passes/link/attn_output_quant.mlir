// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// An attention that writes its result quantized.

// CHECK-LABEL: func.func @attn_output_quant(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %q = launch.alloc : !tgraph.q8<2x32>
// CHECK-NEXT: launch.attention(q = %x : memref<2x32xf32>, keys = %t : memref<8x32xf32>, values = %t : memref<8x32xf32>, position = %p : memref<1xi32>, quant = %q : !tgraph.q8<2x32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [0, 1]
// CHECK-NEXT: func.return %q : !tgraph.q8<2x32>
func.func @attn_output_quant(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32> {tgraph.position}, %t: tensor<8x32xf32> {tgraph.state = "t"}) -> (!tgraph.q8<2x32>, tensor<8x32xf32> {tgraph.carry = 3}) {
  %r = tgraph.fused attn_output_quant(%x_1 = %x : tensor<2x32xf32>, %p_1 = %p : tensor<1xi32>, %t_1 = %t : tensor<8x32xf32>) -> (!tgraph.q8<2x32>) {
    %s = tgraph.attention %x_1, %t_1, %t_1 at %p_1 heads 2 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<2x32xf32>
    %q = tgraph.quantize %s : tensor<2x32xf32> -> !tgraph.q8<2x32>
    tgraph.yield %q : !tgraph.q8<2x32>
  }
  func.return %r, %t : !tgraph.q8<2x32>, tensor<8x32xf32>
}
