// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver' --split-input-file --verify-diagnostics | filecheck %s

// Norms that are not shared.
// CHECK: lower-to-driver 2 rope: sequences, parameter 15 of rope_heads: expected the first member's, a buffer from byte 0 on, got a buffer from byte 128 on
func.func @step(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %a: memref<1x32xf32> {tgraph.state = "a"}, %c: memref<8x16xf32> {tgraph.state = "c"},
                %n: memref<1x64xf32> {tgraph.state = "n"},
                %x: memref<1x32xf32> {tgraph.state = "x"}, %y: memref<1x32xf32> {tgraph.state = "y"}) attributes {launch.lifted = 2 : i64} {
  %l = launch.view %n offset 0 covers [] : memref<1x64xf32> -> memref<1x32xf32>
  %m = launch.view %n offset 32 covers [] : memref<1x64xf32> -> memref<1x32xf32>
  launch.sequences() {
    launch.rope(x = %a : memref<1x32xf32>, norm = %l : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %x : memref<1x32xf32>)
      {heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.0e-06 : f32} covers [0]
    launch.rope(x = %a : memref<1x32xf32>, norm = %m : memref<1x32xf32>, cos = %c : memref<8x16xf32>, sin = %c : memref<8x16xf32>, position = %p : memref<1xi32>, out = %y : memref<1x32xf32>)
      {heads = 1 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.0e-06 : f32} covers [1]
  }
  func.return
}
