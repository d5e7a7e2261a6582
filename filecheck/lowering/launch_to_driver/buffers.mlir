// RUN: lanelink-opt %s --split-input-file -p plan-buffers,lower-to-driver | filecheck %s

// tied_rows_share_one_constant
// CHECK: driver.step @step rows 1 {
// CHECK: %arena = driver.arena bytes 1280
// CHECK: %token = driver.io token bytes 4
// CHECK: %position = driver.io position bytes 4
// CHECK: %e = driver.constant #tgraph.checkpoint<"embed"> as #driver.planes<bf16, 256x64> bytes 32768
// CHECK: %x = driver.slice %arena[0] bytes 256
// CHECK: %l = driver.slice %arena[256] bytes 1024
// CHECK: driver.launch @rows::@gather_{{.*}}(%e, {{.*}}%token, {{.*}}%x{{.*}}) grid {{.*}} covers [0] {label = "gather"}
// CHECK: driver.launch @gemv_bf16::@gemv_{{.*}}(%x, {{.*}}%e, {{.*}}%l{{.*}}) grid {{.*}} covers [1] {label = "gemv"}
// CHECK: driver.return logits %l
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position}) -> (memref<1x256xf32> {tgraph.logits}) attributes {launch.lifted = 2 : i64} {
  %e = launch.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 256x64>
  %h = launch.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 256x64, transposed>
  %x = launch.alloc : memref<1x64xf32>
  %l = launch.alloc : memref<1x256xf32>
  launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %token : memref<1xi32>, out = %x : memref<1x64xf32>) covers [0]
  launch.gemv(x = %x : memref<1x64xf32>, w = %h : !tgraph.rows<bf16, 256x64, transposed>, out = %l : memref<1x256xf32>) covers [1]
  func.return %l : memref<1x256xf32>
}
