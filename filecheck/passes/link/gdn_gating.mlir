// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// Both gates in one launch.

// CHECK-LABEL: func.func @gdn_gating(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %be = launch.alloc : memref<1x2xf32>
// CHECK-NEXT: %de = launch.alloc : memref<1x2xf32>
// CHECK-NEXT: launch.gates(b = %b : memref<1x2xf32>, a = %a : memref<1x2xf32>, dt_bias = %two : memref<2xf32>, a_log = %two : memref<2xf32>, beta = %be : memref<1x2xf32>, decay = %de : memref<1x2xf32>) covers [0, 1]
// CHECK-NEXT: %y = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.delta(q = %x : memref<1x64xf32>, k = %x : memref<1x64xf32>, v = %x : memref<1x64xf32>, z = %x : memref<1x64xf32>, beta = %be : memref<1x2xf32>, decay = %de : memref<1x2xf32>, state = %s : memref<64x32xf32>, norm_weight = %hn : memref<32xf32>, out = %y : memref<1x64xf32>) {value_heads = 2 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e+00 : f32} covers [2]
// CHECK-NEXT: func.return %y : memref<1x64xf32>
// CHECK-NEXT: }
func.func @gdn_gating(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %b: tensor<1x2xf32>, %a: tensor<1x2xf32>, %s: tensor<64x32xf32> {tgraph.state = "s"}) -> (tensor<64x32xf32> {tgraph.carry = 5}, tensor<1x64xf32>) {
  %hn = tgraph.constant #tgraph.checkpoint<"hn"> : tensor<32xf32>
  %two = tgraph.constant #tgraph.checkpoint<"two"> : tensor<2xf32>
  %be = tgraph.sigmoid %b : tensor<1x2xf32> -> tensor<1x2xf32>
  %de = tgraph.decay %a, %two, %two : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %y, %s1 = tgraph.gated_delta silu %x, %x, %x, %x, %be, %de, %s, %hn value_heads 2 key_heads 2 head_dim 32 eps 1.0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<64x32xf32>, tensor<32xf32>) -> (tensor<1x64xf32>, tensor<64x32xf32>)
  func.return %s1, %y : tensor<64x32xf32>, tensor<1x64xf32>
}
