// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// Constants, buffers, and names for parts of them.

// CHECK-LABEL: func.func @buffers(
// GENERIC-LABEL: sym_name = "buffers"
func.func @buffers() {
  // CHECK-NEXT: %w = launch.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
  // GENERIC: %w = "launch.constant"() <{source = #tgraph.checkpoint<"lm_head.weight">}> : () -> !tgraph.rows<bf16, 256x128, transposed>
  %w = launch.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
  // CHECK-NEXT: %n = launch.constant #tgraph.checkpoint<"norm \22weight\22"> : memref<128xf32>
  // GENERIC-NEXT: %n = "launch.constant"() <{source = #tgraph.checkpoint<"norm \22weight\22">}> : () -> memref<128xf32>
  %n = launch.constant #tgraph.checkpoint<"norm \"weight\""> : memref<128xf32>
  // CHECK-NEXT: %c = launch.constant #tgraph.rope_table<cos, [1.000000e+00, 1.000000e-01], scale 1.000000e+00> : memref<8x2xf32>
  // GENERIC-NEXT: %c = "launch.constant"() <{source = #tgraph.rope_table<cos, [1.000000e+00, 1.000000e-01], scale 1.000000e+00>}> : () -> memref<8x2xf32>
  %c = launch.constant #tgraph.rope_table<cos, [1.000000e+00, 1.000000e-01], scale 1.000000e+00> : memref<8x2xf32>
  // CHECK-NEXT: %b = launch.alloc : memref<3x128xf32>
  // GENERIC-NEXT: %b = "launch.alloc"() : () -> memref<3x128xf32>
  %b = launch.alloc : memref<3x128xf32>
  // CHECK-NEXT: %i = launch.alloc {offset = 512 : i64} : memref<1xi32>
  // GENERIC-NEXT: %i = "launch.alloc"() {offset = 512 : i64} : () -> memref<1xi32>
  %i = launch.alloc {offset = 512 : i64} : memref<1xi32>
  // CHECK-NEXT: %q = launch.alloc : !tgraph.q8<3x128, two_plane>
  // GENERIC-NEXT: %q = "launch.alloc"() : () -> !tgraph.q8<3x128, two_plane>
  %q = launch.alloc : !tgraph.q8<3x128, two_plane>
  // CHECK-NEXT: %v = launch.view %b offset 128 covers [4] : memref<3x128xf32> -> memref<1x128xf32>
  // GENERIC-NEXT: %v = "launch.view"(%b) <{offset = 128 : i64, covers = array<i64: 4>}> : (memref<3x128xf32>) -> memref<1x128xf32>
  %v = launch.view %b offset 128 covers [4] : memref<3x128xf32> -> memref<1x128xf32>
  // CHECK-NEXT: %u = launch.view %v offset 64 covers [] : memref<1x128xf32> -> memref<2x32xf32>
  // GENERIC-NEXT: %u = "launch.view"(%v) <{offset = 64 : i64, covers = array<i64>}> : (memref<1x128xf32>) -> memref<2x32xf32>
  %u = launch.view %v offset 64 covers [] : memref<1x128xf32> -> memref<2x32xf32>
  // CHECK-NEXT: %d = launch.alloc : memref<3x128xf32>
  // GENERIC-NEXT: %d = "launch.alloc"() : () -> memref<3x128xf32>
  %d = launch.alloc : memref<3x128xf32>
  // CHECK-NEXT: launch.copy(x = %b : memref<3x128xf32>, out = %d : memref<3x128xf32>) covers []
  // GENERIC-NEXT: "launch.copy"(%b, %d) <{covers = array<i64>}> : (memref<3x128xf32>, memref<3x128xf32>) -> ()
  launch.copy(x = %b : memref<3x128xf32>, out = %d : memref<3x128xf32>) covers []
  // CHECK-NEXT: launch.copy(x = %q : !tgraph.q8<3x128, two_plane>, out = %q : !tgraph.q8<3x128, two_plane>) covers [5]
  // GENERIC-NEXT: "launch.copy"(%q, %q) <{covers = array<i64: 5>}> : (!tgraph.q8<3x128, two_plane>, !tgraph.q8<3x128, two_plane>) -> ()
  launch.copy(x = %q : !tgraph.q8<3x128, two_plane>, out = %q : !tgraph.q8<3x128, two_plane>) covers [5]
  func.return
}
