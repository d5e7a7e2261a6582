// RUN: lanelink-opt %s | lanelink-opt | filecheck %s
// RUN: lanelink-opt %s --print-op-generic | lanelink-opt | filecheck %s

driver.module @gemv_bf16 compute_90 {
  driver.function @gemv_bf16_f32_r1(i64, i64, i32, f32, i64)
  driver.function @no_parameters()
}
driver.module @rows compute_80 {
} attributes {note = "kept"}

driver.step @step rows 2 context 256 {
  %arena = driver.arena bytes 4096
  %x = driver.slice %arena[256] bytes 1024
  %logits = driver.slice %x[512] bytes 512
  %token = driver.io token bytes 8
  %position = driver.io position bytes 4
  %keys = driver.state "layers.0.keys" rows 256 bytes 65536
  %w = driver.constant #tgraph.checkpoint<"lm \"head\"\n"> as #driver.planes<q8_0, 64x128> bytes 8704
  %n = driver.constant #tgraph.checkpoint<"norm"> as #driver.values<128> bytes 512
  %cos = driver.constant #tgraph.rope_table<cos, [1.000000e+00, 0.1], scale 1.000000e+00> as #driver.values<256x2> bytes 2048
  %counters = driver.scratch counters bytes 64
  %partials = driver.scratch partials bytes 4096
  driver.launch @gemv_bf16::@gemv_bf16_f32_r1(%x, %w + 512, -1 : i32, 1.000000e-06 : f32, null) grid (16, 65535, 1) block (256, 1, 1) cluster 8 shared 4096 dependent together covers [3, 4] {label = "fold(gemv, norm)"}
  driver.launch @gemv_bf16::@no_parameters() grid (2147483647, 1, 1) block (16, 1, 64) carveout 100 covers [] {note = "kept"}
  driver.launch @gemv_bf16::@gemv_bf16_f32_r1(null, null, 2147483647 : i32, 0x7F800000 : f32, %x) grid (1, 1, 1) block (1, 1, 1) covers [5]
  driver.return chosen %token logits %logits
} attributes {note = "kept"}

driver.step @bare rows 1 {
  %t = driver.io token bytes 4
  driver.return
}

// CHECK:      driver.module @gemv_bf16 compute_90 {
// CHECK-NEXT:   driver.function @gemv_bf16_f32_r1(i64, i64, i32, f32, i64)
// CHECK-NEXT:   driver.function @no_parameters()
// CHECK-NEXT: }
// CHECK-NEXT: driver.module @rows compute_80 {
// CHECK-NEXT: } attributes {note = "kept"}
// CHECK-NEXT: driver.step @step rows 2 context 256 {
// CHECK-NEXT:   %arena = driver.arena bytes 4096
// CHECK-NEXT:   %x = driver.slice %arena[256] bytes 1024
// CHECK-NEXT:   %logits = driver.slice %x[512] bytes 512
// CHECK-NEXT:   %token = driver.io token bytes 8
// CHECK-NEXT:   %position = driver.io position bytes 4
// CHECK-NEXT:   %keys = driver.state "layers.0.keys" rows 256 bytes 65536
// CHECK-NEXT:   %w = driver.constant #tgraph.checkpoint<"lm \22head\22\0A"> as #driver.planes<q8_0, 64x128> bytes 8704
// CHECK-NEXT:   %n = driver.constant #tgraph.checkpoint<"norm"> as #driver.values<128> bytes 512
// CHECK-NEXT:   %cos = driver.constant #tgraph.rope_table<cos, [1.000000e+00, 1.000000e-01], scale 1.000000e+00> as #driver.values<256x2> bytes 2048
// CHECK-NEXT:   %counters = driver.scratch counters bytes 64
// CHECK-NEXT:   %partials = driver.scratch partials bytes 4096
// CHECK-NEXT:   driver.launch @gemv_bf16::@gemv_bf16_f32_r1(%x, %w + 512, -1 : i32, 1.000000e-06 : f32, null) grid (16, 65535, 1) block (256, 1, 1) cluster 8 shared 4096 dependent together covers [3, 4] {label = "fold(gemv, norm)"}
// CHECK-NEXT:   driver.launch @gemv_bf16::@no_parameters() grid (2147483647, 1, 1) block (16, 1, 64) carveout 100 covers [] {note = "kept"}
// CHECK-NEXT:   driver.launch @gemv_bf16::@gemv_bf16_f32_r1(null, null, 2147483647 : i32, 0x7f800000 : f32, %x) grid (1, 1, 1) block (1, 1, 1) covers [5]
// CHECK-NEXT:   driver.return chosen %token logits %logits
// CHECK-NEXT: } attributes {note = "kept"}
// CHECK-NEXT: driver.step @bare rows 1 {
// CHECK-NEXT:   %t = driver.io token bytes 4
// CHECK-NEXT:   driver.return
// CHECK-NEXT: }
