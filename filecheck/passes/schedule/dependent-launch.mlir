// RUN: lanelink-opt %s -p schedule-dependent-launch --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p schedule-dependent-launch,schedule-dependent-launch --split-input-file | filecheck %s

// The first launch has nothing before it, and a mark it came with goes. A narrow one starts early, and so does a product
// whatever it writes: its weights are on their way before the launch before it ends. A view runs nothing.
// CHECK-LABEL: func.func @early
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.view %y offset 0 covers [] :
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
// CHECK: launch.gemv({{.*}}) {dependent} covers [2]
// CHECK: launch.fold() attributes {dependent} {
// CHECK:   launch.gemv({{.*}}) covers [3]
// CHECK:   launch.norm({{.*}}) {cols = 320000 : i64, eps = 1.000000e-06 : f32} covers [4]
func.func @early(%token: memref<1xi32> {tgraph.token}, %x: memref<1x64xf32>, %y: memref<1x64xf32>,
                 %z: memref<1x320000xf32>, %n: memref<1x320000xf32>) attributes {launch.lifted = 5 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 320000x64, transposed>
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {dependent, act = #launch<act silu>} covers [0]
  %v = launch.view %y offset 0 covers [] : memref<1x64xf32> -> memref<1x64xf32>
  launch.unary(x = %v : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers [1]
  launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 320000x64, transposed>, out = %z : memref<1x320000xf32>) covers [2]
  launch.fold() {
    launch.gemv(x = %x : memref<1x64xf32>, w = %w : !tgraph.rows<bf16, 320000x64, transposed>, out = %z : memref<1x320000xf32>) covers [3]
    launch.norm(x = %z : memref<1x320000xf32>, out = %n : memref<1x320000xf32>) {cols = 320000 : i64, eps = 1.000000e-06 : f32} covers [4]
  }
  func.return
}

// -----

// Wide launches that load no constants first: 264 blocks of 1024 values start early on 132 multiprocessors, 265 do not.
// A gather's rows are constants, but which of them the launch before may decide.
// CHECK-LABEL: func.func @wide
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [2]
// CHECK: launch.gather({{.*}}) covers [3]
func.func @wide(%token: memref<1xi32> {tgraph.token}, %x: memref<264x1024xf32>, %y: memref<264x1024xf32>,
                %a: memref<265x1024xf32>, %b: memref<265x1024xf32>, %i: memref<265xi32>)
    attributes {launch.lifted = 4 : i64} {
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x1024>
  launch.unary(x = %x : memref<264x1024xf32>, out = %y : memref<264x1024xf32>) {act = #launch<act silu>} covers [0]
  launch.unary(x = %y : memref<264x1024xf32>, out = %x : memref<264x1024xf32>) {act = #launch<act silu>} covers [1]
  launch.unary(x = %a : memref<265x1024xf32>, out = %b : memref<265x1024xf32>) {act = #launch<act silu>, dependent} covers [2]
  launch.gather(table = %e : !tgraph.rows<bf16, 256x1024>, index = %i : memref<265xi32>, out = %a : memref<265x1024xf32>) covers [3]
  func.return
}

// -----

// On a chip of twice the multiprocessors they do.
// CHECK-LABEL: func.func @larger_chip
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>, dependent} covers [1]
builtin.module attributes {launch.target = #launch.target<"other", capability 90, sms 264, shared 227, int8>} {
  func.func @larger_chip(%token: memref<1xi32> {tgraph.token}, %a: memref<265x1024xf32>, %b: memref<265x1024xf32>)
      attributes {launch.lifted = 2 : i64} {
    launch.unary(x = %a : memref<265x1024xf32>, out = %b : memref<265x1024xf32>) {act = #launch<act silu>} covers [0]
    launch.unary(x = %b : memref<265x1024xf32>, out = %a : memref<265x1024xf32>) {act = #launch<act silu>} covers [1]
    func.return
  }
}

// -----

// A delta rule whose state alone is more than 264 blocks of 1024 values: it is sent for before the wait.
// CHECK-LABEL: func.func @delta
// CHECK: launch.unary({{.*}}) {act = #launch<act silu>} covers [0]
// CHECK: launch.delta({{.*}}) {{{.*}}dependent{{.*}}} covers [1]
func.func @delta(%token: memref<1xi32> {tgraph.token}, %x: memref<1x4096xf32>, %y: memref<1x4096xf32>,
                 %b: memref<1x32xf32>, %s: memref<4096x128xf32>, %n: memref<128xf32>)
    attributes {launch.lifted = 2 : i64} {
  launch.unary(x = %x : memref<1x4096xf32>, out = %y : memref<1x4096xf32>) {act = #launch<act silu>} covers [0]
  launch.delta(q = %y : memref<1x4096xf32>, k = %y : memref<1x4096xf32>, v = %y : memref<1x4096xf32>, z = %y : memref<1x4096xf32>, beta = %b : memref<1x32xf32>, decay = %b : memref<1x32xf32>, state = %s : memref<4096x128xf32>, norm_weight = %n : memref<128xf32>, out = %x : memref<1x4096xf32>) {value_heads = 32 : i64, key_heads = 32 : i64, head_dim = 128 : i64, eps = 1.000000e-06 : f32} covers [1]
  func.return
}

// -----

// Keys and values from the position on are set ahead of the first attention, so older ones are there since the step
// before; of the second all are another launch's, and of the third a row is set that may be any.
// CHECK-LABEL: func.func @settled
// CHECK: launch.attention(q = %q {{.*}} keys = %k {{.*}}, dependent, settled} covers [2]
// CHECK: launch.attention(q = %q {{.*}} keys = %made {{.*}} : f32, dependent} covers [4]
// CHECK: launch.attention(q = %q {{.*}} keys = %k {{.*}} : f32, dependent} covers [6]
// An index that is set in the step is no place to begin at.
// CHECK: launch.attention(q = %q {{.*}} keys = %u {{.*}} : f32, dependent} covers [8]
func.func @settled(%token: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position}, %i: memref<1xi32>, %q: memref<1x64xf32>,
                   %n: memref<1x64xf32>, %y: memref<1x64xf32>, %k: memref<16x64xf32>, %v: memref<16x64xf32>, %u: memref<16x64xf32>)
    attributes {launch.lifted = 9 : i64} {
  %made = launch.alloc : memref<16x64xf32>
  launch.set_row(source = %n : memref<1x64xf32>, out = %k : memref<16x64xf32>, at = %p : memref<1xi32>) covers [0]
  launch.set_row(source = %n : memref<1x64xf32>, out = %v : memref<16x64xf32>, at = %p : memref<1xi32>) covers [1]
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<16x64xf32>, values = %v : memref<16x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 1.000000e+00 : f32} covers [2]
  launch.copy(x = %k : memref<16x64xf32>, out = %made : memref<16x64xf32>) covers [3]
  launch.attention(q = %q : memref<1x64xf32>, keys = %made : memref<16x64xf32>, values = %v : memref<16x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>) {settled, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 1.000000e+00 : f32} covers [4]
  launch.set_row(source = %n : memref<1x64xf32>, out = %v : memref<16x64xf32>) {row = 3 : i64} covers [5]
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<16x64xf32>, values = %v : memref<16x64xf32>, position = %p : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 1.000000e+00 : f32} covers [6]
  launch.advance(x = %p : memref<1xi32>, out = %i : memref<1xi32>) {by = 1 : i64} covers [7]
  launch.attention(q = %q : memref<1x64xf32>, keys = %u : memref<16x64xf32>, values = %u : memref<16x64xf32>, position = %i : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 1.000000e+00 : f32} covers [8]
  func.return
}
