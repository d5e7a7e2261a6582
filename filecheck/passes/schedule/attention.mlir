// RUN: lanelink-opt %s -p schedule-attention | filecheck %s
// RUN: lanelink-opt %s -p schedule-attention,schedule-attention | filecheck %s

// Four heads of each of 8 key heads in a block, 32 splits of a long table on 132 multiprocessors; values inside the
// keys; a window of few positions; a chunk's rows two by two. What attends to nothing says nothing.
// CHECK-LABEL: func.func @each
// CHECK: launch.attention({{.*}}) {heads = 32 : i64, {{.*}}, block_heads = 4 : i64, block_rows = 1 : i64, splits = 32 : i64} covers [0]
// CHECK: launch.attention({{.*}}) {heads = 32 : i64, {{.*}}, window = 128 : i64, block_heads = 4 : i64, block_rows = 1 : i64, splits = 5 : i64} covers [1]
// CHECK: launch.attention({{.*}}) {heads = 32 : i64, {{.*}}, block_heads = 4 : i64, block_rows = 2 : i64, splits = 16 : i64} covers [2]
// CHECK: launch.attention({{.*}}) {heads = 32 : i64, {{.*}}, block_heads = 2 : i64, block_rows = 1 : i64, splits = 8 : i64} covers [3]
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [4]
func.func @each(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32>, %k: memref<4096x1024xf32>, %v: memref<4096x1024xf32>,
                %q: memref<1x4096xf32>, %o: memref<1x4096xf32>, %qs: memref<3x4096xf32>, %os: memref<3x4096xf32>,
                %u: memref<1x2112xf32>) attributes {launch.lifted = 5 : i64} {
  launch.attention(q = %q : memref<1x4096xf32>, keys = %k : memref<4096x1024xf32>, values = %v : memref<4096x1024xf32>, position = %p : memref<1xi32>, out = %o : memref<1x4096xf32>)
    {heads = 32 : i64, kv_heads = 8 : i64, head_dim = 128 : i64, value_dim = 128 : i64, scale = 1.0 : f32} covers [0]
  launch.attention(q = %q : memref<1x4096xf32>, keys = %k : memref<4096x1024xf32>, values = %v : memref<4096x1024xf32>, position = %p : memref<1xi32>, out = %o : memref<1x4096xf32>)
    {heads = 32 : i64, kv_heads = 8 : i64, head_dim = 128 : i64, value_dim = 128 : i64, scale = 1.0 : f32, window = 128 : i64} covers [1]
  launch.attention(q = %qs : memref<3x4096xf32>, keys = %k : memref<4096x1024xf32>, values = %v : memref<4096x1024xf32>, position = %p : memref<1xi32>, out = %os : memref<3x4096xf32>)
    {heads = 32 : i64, kv_heads = 8 : i64, head_dim = 128 : i64, value_dim = 128 : i64, scale = 1.0 : f32} covers [2]
  launch.attention(q = %q : memref<1x4096xf32>, keys = %k : memref<4096x1024xf32>, values = %k : memref<4096x1024xf32>, position = %p : memref<1xi32>, out = %u : memref<1x2112xf32>)
    {heads = 32 : i64, kv_heads = 8 : i64, head_dim = 128 : i64, value_dim = 66 : i64, scale = 1.0 : f32, v_pitch = 128 : i64, v_offset = 0 : i64} covers [3]
  launch.unary(x = %q : memref<1x4096xf32>, out = %o : memref<1x4096xf32>) {act = #launch<act silu>} covers [4]
  func.return
}
