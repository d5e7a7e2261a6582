// RUN: lanelink-opt %s --split-input-file -p schedule-attention,plan-buffers,lower-to-driver | filecheck %s
// RUN: lanelink-opt %s --split-input-file -p 'schedule-attention,plan-buffers,lower-to-driver{architecture="compute_80"}' | filecheck %s --check-prefix=OLDER

// attention
// CHECK: driver.launch @attention_64::@attention_64_{{.*}}(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, 1 : i32, {{.*}}%y{{.*}}) grid {{.*}} covers [0] {label = "attention"}
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
// CHECK: driver.launch @attention_64::@attention_64_{{.*}}(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, {{.*}}%s, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1] {label = "attention"}
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

// -----

// gated_into_a_row: of the gate's row 1 (64 values on) into row 1 of both results
// CHECK: driver.launch @attention_64::@attention_64_q2(%q, 64 : i32, 32 : i32, %k, {{.*}}%g + 256, 64 : i32, 2 : i32, %y + 256, 64 : i32, null, %z, 1 : i32, 2 : i32, 1 : i32, null) grid {{.*}} covers [0, 1, 2, 3] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %g: memref<2x64xf32> {tgraph.state = "g"},
  %k: memref<256x64xf32> {tgraph.state = "k"},
  %v: memref<256x64xf32> {tgraph.state = "v"}) attributes {launch.lifted = 4 : i64} {
  %y = launch.alloc : memref<2x64xf32>
  %z = launch.alloc : !tgraph.q8<2x64>
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>, position = %position : memref<1xi32>, gate = %g : memref<2x64xf32>, out = %y : memref<2x64xf32>, quant = %z : !tgraph.q8<2x64>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.767767e-01 : f32, gate_act = #launch<act sigmoid>, gate_offset = 64 : i64, row = 1 : i64} covers [0, 1, 2, 3]
  func.return
}

// -----

// values_in_the_key_rows: DeepSeek's absorbed heads of 576, the first 512 of a key row their values
// CHECK: driver.launch @attention_512::@attention_512_q4(%q, 9216 : i32, 576 : i32, %t, 576 : i32, %t, 576 : i32, 576 : i32, %position, 1 : i32, {{.*}}) grid (4, {{.*}}) block (256, 1, 1) shared {{.*}} covers [0, 1] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x9216xf32> {tgraph.state = "q"},
  %t: memref<256x576xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %y = launch.alloc : memref<1x8192xf32>
  launch.attention(q = %q : memref<1x9216xf32>, keys = %t : memref<256x576xf32>, values = %t : memref<256x576xf32>, position = %position : memref<1xi32>, out = %y : memref<1x8192xf32>) {heads = 16 : i64, kv_heads = 1 : i64, head_dim = 576 : i64, value_dim = 512 : i64, scale = 7.216878e-02 : f32, v_pitch = 576 : i64, v_offset = 0 : i64} covers [0, 1]
  func.return
}

// -----

// a_position_of_this_step: it is read only once the launch ahead has ended
// CHECK: driver.launch @attention_64::@attention_64_q2({{.*}}%at, 0 : i32, {{.*}}) grid {{.*}} covers [1] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x64xf32> {tgraph.state = "q"},
  %k: memref<256x64xf32> {tgraph.state = "k"},
  %v: memref<256x64xf32> {tgraph.state = "v"}) attributes {launch.lifted = 2 : i64} {
  %at = launch.alloc : memref<1xi32>
  %y = launch.alloc : memref<1x64xf32>
  launch.advance(x = %position : memref<1xi32>, out = %at : memref<1xi32>) {by = 1 : i64} covers [0]
  launch.attention(q = %q : memref<1x64xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>, position = %at : memref<1xi32>, out = %y : memref<1x64xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.767767e-01 : f32} covers [1]
  func.return
}

// -----

// latent_chunk: keys end in the table's values from 32 on
// CHECK: driver.launch @attention_tailed::@attention_tailed_128(%q, 384 : i32, 96 : i32, %k, 256 : i32, %v, 128 : i32, 32 : i32, %position, 1 : i32, 16 : i32, {{.*}}64 : i32, %r, 128 : i32, %t + 128, 64 : i32, {{.*}}%o, 128 : i32, {{.*}}) grid (4, {{.*}}, 16) {{.*}} covers [0] {label = "latent_attend"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<16x384xf32> {tgraph.state = "q"},
  %r: memref<16x128xf32> {tgraph.state = "r"},
  %k: memref<256x256xf32> {tgraph.state = "k"},
  %v: memref<256x128xf32> {tgraph.state = "v"},
  %t: memref<256x64xf32> {tgraph.state = "t"}) attributes {launch.lifted = 1 : i64} {
  %o = launch.alloc : memref<16x128xf32>
  launch.latent_attend(q = %q : memref<16x384xf32>, q_rope = %r : memref<16x128xf32>, keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>, table = %t : memref<256x64xf32>, position = %position : memref<1xi32>, out = %o : memref<16x128xf32>) {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64, q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [0]
  func.return
}

// -----

// latent_halves: keys by a matrix stored as the query's absorption multiplies by it, values by one stored by outputs
// CHECK: driver.launch @latent_q8_0::@latent_q8_0_by_outputs(%t, 64 : i32, %wk, 256 : i32, 32 : i32, 32 : i32, 32 : i32, 64 : i32, 256 : i32, 128 : i32, %position, %k, 256 : i32) grid (4, 2, 1) block (256, 1, 1) covers [0] {label = "latent_keys"}
// CHECK: driver.launch @latent_bf16::@latent_bf16_by_inputs(%t, 64 : i32, %wv, 128 : i32, 32 : i32, 64 : i32, 32 : i32, 32 : i32, 128 : i32, 128 : i32, %position, %v, 128 : i32) grid (2, 2, 1) block (256, 1, 1) covers [1] {label = "latent_values"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %t: memref<256x64xf32> {tgraph.state = "t"}) attributes {launch.lifted = 2 : i64} {
  %wk = launch.constant #tgraph.checkpoint<"wk"> : !tgraph.rows<q8_0, 256x32>
  %wv = launch.constant #tgraph.checkpoint<"wv"> : !tgraph.rows<bf16, 128x32>
  %k = launch.alloc : memref<256x256xf32>
  %v = launch.alloc : memref<256x128xf32>
  launch.latent_keys(table = %t : memref<256x64xf32>, w = %wk : !tgraph.rows<q8_0, 256x32>, position = %position : memref<1xi32>, out = %k : memref<256x256xf32>) {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [0]
  launch.latent_values(table = %t : memref<256x64xf32>, w = %wv : !tgraph.rows<bf16, 128x32>, position = %position : memref<1xi32>, out = %v : memref<256x128xf32>) {heads = 4 : i64, latent = 32 : i64, width = 32 : i64, rows = 128 : i64} covers [1]
  func.return
}

// -----

// turned: the queries and the step's own key as they come of their products, then both norms and the rotation
// CHECK: driver.launch @attention_64::@attention_64_q2(%q, 128 : i32, 32 : i32, %k, 64 : i32, %v, 64 : i32, 32 : i32, %position, 2 : i32, 1 : i32, 1 : i32, %new, 64 : i32, 1 : i32, %n, 1.000000e-06 : f32, 0 : i32, null, 0.000000e+00 : f32, %c, %s, 16 : i32, {{.*}}%y{{.*}}) grid {{.*}} covers [0, 1, 2, 3] {label = "fold(rope_parts, attention)"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x128xf32> {tgraph.state = "q"},
  %new: memref<1x64xf32> {tgraph.state = "new"},
  %k: memref<256x64xf32> {tgraph.state = "k"},
  %v: memref<256x64xf32> {tgraph.state = "v"}) attributes {launch.lifted = 4 : i64} {
  %n = launch.constant #tgraph.checkpoint<"n"> : memref<32xf32>
  %c = launch.constant #tgraph.checkpoint<"c"> : memref<256x16xf32>
  %s = launch.constant #tgraph.checkpoint<"s"> : memref<256x16xf32>
  %r = launch.alloc : memref<1x128xf32>
  %y = launch.alloc : memref<1x128xf32>
  launch.fold() {
    launch.rope_parts(cos = %c : memref<256x16xf32>, sin = %s : memref<256x16xf32>, position = %position : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %q : memref<1x128xf32>, norm = %n : memref<32xf32>, out = %r : memref<1x128xf32>) {heads = 4 : i64, norm_eps = 1.000000e-06 : f32} covers [0]
      launch.rope_side(x = %new : memref<1x64xf32>, out = %k : memref<256x64xf32>, at = %position : memref<1xi32>) {heads = 2 : i64} covers [1, 2]
    }
    launch.attention(q = %r : memref<1x128xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>, position = %position : memref<1xi32>, out = %y : memref<1x128xf32>) {settled, heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 0.176776695 : f32} covers [3]
  }
  func.return
}

// -----

// one_row_over_heads_of_a_usual_size: eight splits of 256 positions, in a cluster
// CHECK: driver.launch @attention_64::@attention_one_64_q2(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, {{.*}}%y{{.*}}) grid (16, 2, 1) block (256, 1, 1) cluster 16 shared 17408 carveout 100 {{(dependent )?}}covers [0] {label = "attention"}
// OLDER: driver.launch @attention_64::@attention_few_64_q2(%q, {{.*}}%k, {{.*}}%v, {{.*}}%position, {{.*}}%y{{.*}}) grid (2, 8, 1) block (256, 1, 1) shared {{[0-9]+}} covers [0] {label = "attention"}
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x256xf32> {tgraph.state = "q"},
  %k: memref<256x128xf32> {tgraph.state = "k"},
  %v: memref<256x128xf32> {tgraph.state = "v"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x256xf32>
  launch.attention(q = %q : memref<1x256xf32>, keys = %k : memref<256x128xf32>, values = %v : memref<256x128xf32>, position = %position : memref<1xi32>, out = %y : memref<1x256xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 0.125 : f32} covers [0]
  func.return
}

// -----

// one_row_on_a_later_chip: clusters of so many blocks are not all chips'
// CHECK: driver.launch @attention_64::@attention_few_64_q2({{.*}}) grid (2, 8, 1) block (256, 1, 1) shared {{[0-9]+}} {{(dependent )?}}covers [0] {label = "attention"}
// OLDER: driver.launch @attention_64::@attention_few_64_q2({{.*}}) grid (2, 8, 1) block (256, 1, 1) shared {{[0-9]+}} covers [0] {label = "attention"}
builtin.module attributes {launch.target = #launch.target<"later", capability 120, sms 132, shared 99, int8>} {
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %position: memref<1xi32> {tgraph.position},
  %q: memref<1x256xf32> {tgraph.state = "q"},
  %k: memref<256x128xf32> {tgraph.state = "k"},
  %v: memref<256x128xf32> {tgraph.state = "v"}) attributes {launch.lifted = 1 : i64} {
  %y = launch.alloc : memref<1x256xf32>
  launch.attention(q = %q : memref<1x256xf32>, keys = %k : memref<256x128xf32>, values = %v : memref<256x128xf32>, position = %position : memref<1xi32>, out = %y : memref<1x256xf32>) {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 64 : i64, value_dim = 64 : i64, scale = 0.125 : f32} covers [0]
  func.return
}
}
