// RUN: lanelink-opt %s -p plan-buffers | filecheck %s
// RUN: lanelink-opt %s -p plan-buffers,plan-buffers | filecheck %s

// A chain of two launches: what the second writes lies beside what it reads.
// CHECK: @chain({{.*}}) attributes {launch.lifted = 3 : i64, launch.arena = 768 : i64}
func.func @chain(%x: memref<1x64xf32>) attributes {launch.lifted = 3 : i64} {
  // CHECK-NEXT: %a = launch.alloc {offset = 0 : i64} : memref<1x64xf32>
  // CHECK-NEXT: %b = launch.alloc {offset = 256 : i64} : memref<1x65xf32>
  // CHECK-NEXT: %c = launch.alloc {offset = 0 : i64} : memref<1x64xf32>
  %a = launch.alloc : memref<1x64xf32>
  %b = launch.alloc : memref<1x65xf32>
  %c = launch.alloc : memref<1x64xf32>
  launch.unary(x = %x : memref<1x64xf32>, out = %a : memref<1x64xf32>) {act = #launch<act silu>} covers [0]
  launch.set_row(source = %x : memref<1x64xf32>, out = %a : memref<1x64xf32>) {row = 0 : i64} covers [1]
  %v = launch.view %b offset 0 covers [] : memref<1x65xf32> -> memref<1x64xf32>
  launch.unary(x = %a : memref<1x64xf32>, out = %v : memref<1x64xf32>) {act = #launch<act silu>} covers []
  launch.unary(x = %v : memref<1x64xf32>, out = %c : memref<1x64xf32>) {act = #launch<act silu>} covers [2]
  func.return
}

// What is returned lives to the end; a view's readers are its source's; quantized rows take their planes and scales.
// CHECK: @returned({{.*}}) -> memref<1x64xf32> attributes {launch.lifted = 4 : i64, launch.arena = 768 : i64}
func.func @returned(%x: memref<1x64xf32>) -> memref<1x64xf32> attributes {launch.lifted = 4 : i64} {
  // CHECK-NEXT: %a = launch.alloc {offset = 0 : i64} : memref<1x64xf32>
  // CHECK-NEXT: %q = launch.alloc {offset = 256 : i64} : !tgraph.q8<1x192, two_plane>
  %a = launch.alloc : memref<1x64xf32>
  %q = launch.alloc : !tgraph.q8<1x192, two_plane>
  %w = launch.constant #tgraph.checkpoint<"w"> : memref<1x192xf32>
  launch.unary(x = %x : memref<1x64xf32>, out = %a : memref<1x64xf32>) {act = #launch<act silu>} covers [0, 1]
  launch.quant(x = %w : memref<1x192xf32>, quant = %q : !tgraph.q8<1x192, two_plane>) covers [2, 3]
  func.return %a : memref<1x64xf32>
}

// The middle of a fold lives in its launch; a step without buffers has an empty arena.
// CHECK: @folded({{.*}}) attributes {launch.lifted = 2 : i64, launch.arena = 512 : i64}
func.func @folded(%t: memref<1xi32>) attributes {launch.lifted = 2 : i64} {
  // CHECK-NEXT: %x = launch.alloc {offset = 0 : i64}
  // CHECK-NEXT: %y = launch.alloc {offset = 256 : i64}
  %x = launch.alloc : memref<1x64xf32>
  %y = launch.alloc : memref<1x64xf32>
  %e = launch.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 256x64>
  launch.fold() {
    launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %t : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
    launch.norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
  }
  func.return
}

// CHECK: @empty() attributes {launch.lifted = 0 : i64, launch.arena = 0 : i64}
func.func @empty() attributes {launch.lifted = 0 : i64} {
  func.return
}
