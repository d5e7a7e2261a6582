// RUN: lanelink-opt %s -p number-ops,fuse,legalize-shim,link --split-input-file | filecheck %s

// Lifted ops alone, each with the launch of its kind.

// CHECK-LABEL: func.func @alone(
// CHECK-SAME: launch.lifted = 6 : i64
// CHECK: %de = launch.alloc : memref<1x2xf32>
// CHECK-NEXT: launch.decay(a = %a : memref<1x2xf32>, dt_bias = %two : memref<2xf32>, a_log = %two : memref<2xf32>, out = %de : memref<1x2xf32>) covers [0]
// CHECK-NEXT: %l = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.l2norm(x = %x : memref<1x64xf32>, out = %l : memref<1x64xf32>) {cols = 32 : i64, eps = 1.000000e+00 : f32} covers [1]
// CHECK-NEXT: %c = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.conv(x = %l : memref<1x64xf32>, w = %taps : memref<64x4xf32>, ring = %ring : memref<3x64xf32>, out = %c : memref<1x64xf32>) covers [2]
// CHECK-NEXT: %m = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.moe(x = %c : memref<1x64xf32>, router = %r : !tgraph.rows<bf16, 4x64, transposed>, gate = %g : !tgraph.rows<bf16, 128x64, transposed>, up = %g : !tgraph.rows<bf16, 128x64, transposed>, down = %d : !tgraph.rows<bf16, 256x32, transposed>, out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize} covers [3]
// CHECK-NEXT: %h = launch.alloc : memref<1x64xf32>
// CHECK-NEXT: launch.head_gemv(x = %m : memref<1x64xf32>, w = %w : !tgraph.rows<q8_0, 64x32, transposed>, out = %h : memref<1x64xf32>) {heads = 2 : i64, inputs = 32 : i64, outputs = 32 : i64} covers [4]
// CHECK-NEXT: %j = launch.alloc : memref<1x128xf32>
// CHECK-NEXT: launch.join(a = %h : memref<1x64xf32>, b = %h : memref<1x64xf32>, out = %j : memref<1x128xf32>) {heads = 2 : i64} covers [5]
// CHECK-NEXT: func.return %de, %m, %j : memref<1x2xf32>, memref<1x64xf32>, memref<1x128xf32>
// CHECK-NEXT: }
func.func @alone(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>, %a: tensor<1x2xf32>, %ring: tensor<3x64xf32> {tgraph.state = "ring"}) -> (tensor<3x64xf32> {tgraph.carry = 4}, tensor<1x2xf32>, tensor<1x64xf32>, tensor<1x128xf32>) {
  %two = tgraph.constant #tgraph.checkpoint<"two"> : tensor<2xf32>
  %taps = tgraph.constant #tgraph.checkpoint<"taps"> : tensor<64x4xf32>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 64x32, transposed>
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 4x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 128x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 256x32, transposed>
  %de = tgraph.decay %a, %two, %two : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %l = tgraph.l2norm %x cols 32 eps 1.0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %c, %ring1 = tgraph.causal_conv %l, %taps, %ring : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
  %m = tgraph.moe softmax silu %c, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
  %h = tgraph.head_matmul %m, %w heads 2 inputs 32 outputs 32 : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<1x64xf32>
  %j = tgraph.join %h, %h heads 2 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  func.return %ring1, %de, %m, %j : tensor<3x64xf32>, tensor<1x2xf32>, tensor<1x64xf32>, tensor<1x128xf32>
}

// -----

// Groups, how they are ranked, and the scale of the routed sum; where nothing says otherwise, two scores rank a group.
// CHECK-LABEL: func.func @in_groups(
// CHECK: launch.moe({{.*}}out = %m : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 6 : i64, top_k = 2 : i64, hidden = 32 : i64, routed_scale = 1.600000e+01 : f32, groups = 3 : i64, kept_groups = 2 : i64, group_best = 1 : i64} covers [0]
// CHECK: launch.moe({{.*}}out = %n : memref<1x64xf32>) {act = #tgraph<expert_activation silu>, experts = 6 : i64, top_k = 2 : i64, hidden = 32 : i64, renormalize, groups = 3 : i64, kept_groups = 1 : i64, group_best = 2 : i64} covers [1]
func.func @in_groups(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %r = tgraph.constant #tgraph.checkpoint<"r"> : !tgraph.rows<bf16, 6x64, transposed>
  %g = tgraph.constant #tgraph.checkpoint<"g"> : !tgraph.rows<bf16, 192x64, transposed>
  %d = tgraph.constant #tgraph.checkpoint<"d"> : !tgraph.rows<bf16, 384x32, transposed>
  %m = tgraph.moe softmax silu %x, %r, %g, %g, %d experts 6 top_k 2 hidden 32 routed_scale 16.0 groups 3 kept 2 best 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 6x64, transposed>, !tgraph.rows<bf16, 192x64, transposed>, !tgraph.rows<bf16, 192x64, transposed>, !tgraph.rows<bf16, 384x32, transposed> -> tensor<1x64xf32>
  %n = tgraph.moe softmax silu %x, %r, %g, %g, %d experts 6 top_k 2 hidden 32 renormalize groups 3 kept 1 : tensor<1x64xf32>, !tgraph.rows<bf16, 6x64, transposed>, !tgraph.rows<bf16, 192x64, transposed>, !tgraph.rows<bf16, 192x64, transposed>, !tgraph.rows<bf16, 384x32, transposed> -> tensor<1x64xf32>
  func.return %m, %n : tensor<1x64xf32>, tensor<1x64xf32>
}
