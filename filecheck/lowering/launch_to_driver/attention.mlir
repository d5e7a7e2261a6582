// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// attention
// CHECK: driver.launch @attention::@attention_{{.*}}(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, {{.*}}%y{{.*}}) grid {{.*}} covers [0] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x128xf32> {tgraph.state = "q"},
  %k: memref<256x64xf32> {tgraph.state = "k"},
  %v: memref<256x64xf32> {tgraph.state = "v"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x128xf32>
  launch.attention(q = %q : memref<1x128xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>, position = %position : memref<1xi32>, out = %y : memref<1x128xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.767767e-01 : f32} covers [0]
  func.return
}

// -----

// windowed_with_sinks_quantized
// CHECK: driver.launch @attention::@attention_{{.*}}(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, {{.*}}%s, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x128xf32> {tgraph.state = "q"},
  %k: memref<256x64xf32> {tgraph.state = "k"},
  %v: memref<256x64xf32> {tgraph.state = "v"}) attributes {launch.lifted = 2 : i64} {
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<4xf32>
  %y = launch.alloc : !tgraph.q8<1x128>
  launch.attention(q = %q : memref<1x128xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>, position = %position : memref<1xi32>, sinks = %s : memref<4xf32>, quant = %y : !tgraph.q8<1x128>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.767767e-01 : f32, window = 128 : i64} covers [0, 1]
  func.return
}
