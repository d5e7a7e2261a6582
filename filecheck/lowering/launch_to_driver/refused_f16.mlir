// RUN: not lanelink-opt %s -p plan-buffers,lower-to-driver 2>&1 | filecheck %s

// No kernel slices a table of f16.
// CHECK: slice: rows to set: expected rows of f32, got a table of f16
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %table: memref<256x64xf16> {tgraph.state = "table"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<256x32xf16>
  launch.slice(x = %table : memref<256x64xf16>, out = %y : memref<256x32xf16>) {start = 0 : i64, width = 32 : i64, every = 64 : i64} covers [0]
  func.return
}
