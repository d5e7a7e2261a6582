// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics --allow-unregistered-dialect | filecheck %s

// function_outside_a_module
// CHECK: driver.function @function_outside_a_module: expected it inside a driver.module
driver.function @function_outside_a_module(i64)

// -----

// parameter_of_another_type
// CHECK: driver.function @f parameter 1: expected i64, i32 or f32, got f64
driver.module @parameter_of_another_type compute_90 {
  driver.function @f(i64, f64)
}

// -----

// something_else_in_a_module
// CHECK: driver.module @something_else_in_a_module: expected driver.function inside, got driver.arena
driver.module @something_else_in_a_module compute_90 {
  %a = driver.arena bytes 4
}

// -----

// function_named_twice
// CHECK: Redefinition of symbol "f"
driver.module @function_named_twice compute_90 {
  driver.function @f(i64)
  driver.function @f(i64)
}

// -----

// unknown_architecture
// CHECK: Expected `compute_80`, or `compute_90`
driver.module @unknown_architecture compute_70 {
}
