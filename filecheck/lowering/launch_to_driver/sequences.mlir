// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver' --split-input-file | filecheck %s

// CHECK: driver.launch @elementwise::@copy_sequences(%a, %s, %p, %b, %t, %q, null, {{.*}}, 64 : i32, 64 : i32, 64 : i32) grid (1, 1, 2) block (256, 1, 1) covers [0, 1] {label = "2 set_row"}
// CHECK: driver.launch @attention_64::@attention_64_sequences(%a, %s, %s, %p, null, %x, %b, %t, %t, %q, null, %y, null, {{.*}}) grid (2, 1, 2) block (256, 1, 1) shared {{.*}} covers [2, 3] {label = "2 attention"}
func.func @step(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %q: memref<1xi32> {tgraph.state = "q"},
                %a: memref<1x64xf32> {tgraph.state = "a"}, %b: memref<1x64xf32> {tgraph.state = "b"},
                %s: memref<8x64xf32> {tgraph.state = "s"}, %t: memref<8x64xf32> {tgraph.state = "t"},
                %x: memref<1x64xf32> {tgraph.state = "x"}, %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 4 : i64} {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<8x64xf32>, at = %p : memref<1xi32>) covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>, at = %q : memref<1xi32>) covers [1]
  }
  launch.sequences() {
    launch.attention(q = %a : memref<1x64xf32>, keys = %s : memref<8x64xf32>, values = %s : memref<8x64xf32>, position = %p : memref<1xi32>, out = %x : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [2]
    launch.attention(q = %b : memref<1x64xf32>, keys = %t : memref<8x64xf32>, values = %t : memref<8x64xf32>, position = %q : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [3]
  }
  func.return
}
