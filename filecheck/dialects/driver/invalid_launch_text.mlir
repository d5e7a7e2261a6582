// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// label_that_is_a_number
// CHECK: invalid_launch_text.mlir:13:90
// CHECK: expected a string as the label, got 3 : i32
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @label_that_is_a_number rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  // The place is that of the attributes.
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers [] {label = 3 : i32}
  driver.return
}

// -----

// cluster_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @cluster_that_would_wrap rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (4, 1, 1) block (32, 1, 1) cluster 9223372036854775808 covers []
  driver.return
}

// -----

// grid_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 18446744073709551615
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @grid_that_would_wrap rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (18446744073709551615, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// block_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775809
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @block_that_would_wrap rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 9223372036854775809, 1) covers []
  driver.return
}

// -----

// shared_past_64_bits
// CHECK: expected a number from -2^63 to 2^63 - 1, got -9223372036854775809
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @shared_past_64_bits rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) shared -9223372036854775809 covers []
  driver.return
}

// -----

// covered_op_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @covered_op_that_would_wrap rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers [9223372036854775808]
  driver.return
}

// -----

// offset_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @offset_that_would_wrap rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a + 9223372036854775808, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// rows_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
driver.step @rows_that_would_wrap rows 9223372036854775808 {
  %t = driver.io token bytes 4
  driver.return
}

// -----

// context_that_would_wrap
// CHECK: expected a number from -2^63 to 2^63 - 1, got 9223372036854775808
driver.step @context_that_would_wrap rows 1 context 9223372036854775808 {
  %t = driver.io token bytes 4
  driver.return
}
