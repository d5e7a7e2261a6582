// RUN: lanelink-opt %s | filecheck %s
// RUN: lanelink-opt %s | lanelink-opt | filecheck %s

// CHECK: func.func @rows_of_one_table
// CHECK-NEXT: launch.sequences() {
// CHECK-NEXT:   launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
// CHECK-NEXT:   launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 1 : i64} covers [1]
// CHECK-NEXT: }
func.func @rows_of_one_table(%a: memref<1x64xf32>, %b: memref<1x64xf32>, %t: memref<8x64xf32>) {
  launch.sequences() {
    launch.set_row(source = %a : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 0 : i64} covers [0]
    launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<8x64xf32>) {row = 1 : i64} covers [1]
  }
  func.return
}

// CHECK: func.func @attentions
// CHECK-NEXT: launch.sequences() attributes {dependent} {
// CHECK-NEXT:   launch.attention(q = %a : memref<1x64xf32>, {{.*}}) {heads = 2 : i64, {{.*}}} covers [0]
// CHECK-NEXT:   launch.attention(q = %a : memref<1x64xf32>, {{.*}}) {heads = 2 : i64, {{.*}}} covers [1]
// CHECK-NEXT: }
func.func @attentions(%a: memref<1x64xf32>, %k: memref<8x64xf32>, %l: memref<8x64xf32>, %p: memref<1xi32>, %y: memref<1x64xf32>, %z: memref<1x64xf32>) {
  launch.sequences() attributes {dependent} {
    launch.attention(q = %a : memref<1x64xf32>, keys = %k : memref<8x64xf32>, values = %k : memref<8x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [0]
    launch.attention(q = %a : memref<1x64xf32>, keys = %l : memref<8x64xf32>, values = %l : memref<8x64xf32>, position = %p : memref<1xi32>, out = %z : memref<1x64xf32>)
      {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.0 : f32} covers [1]
  }
  func.return
}
