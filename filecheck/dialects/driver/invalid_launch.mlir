// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics --allow-unregistered-dialect | filecheck %s

// empty_grid
// CHECK: driver.launch grid x: expected 1 to 2147483647, got 0
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @empty_grid rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (0, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// tall_grid
// CHECK: driver.launch grid y: expected 1 to 65535, got 65536
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @tall_grid rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 65536, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// deep_grid
// CHECK: driver.launch grid z: expected 1 to 65535, got 65536
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @deep_grid rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 65536) block (32, 1, 1) covers []
  driver.return
}

// -----

// deep_block
// CHECK: driver.launch block z: expected 1 to 64, got 65
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @deep_block rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (1, 1, 65) covers []
  driver.return
}

// -----

// block_of_too_many_threads
// CHECK: driver.launch block: expected at most 1024 threads, got 2048
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @block_of_too_many_threads rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (64, 32, 1) covers []
  driver.return
}

// -----

// grid_of_two_sizes
// CHECK: expected three sizes, got 2
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @grid_of_two_sizes rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1) block (64, 1, 1) covers []
  driver.return
}

// -----

// narrow_cluster
// CHECK: driver.launch cluster: expected 2 to 16 blocks, got 1{{$}}
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @narrow_cluster rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (4, 1, 1) block (32, 1, 1) cluster 1 covers []
  driver.return
}

// -----

// wide_cluster
// CHECK: driver.launch cluster: expected 2 to 16 blocks, got 17
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @wide_cluster rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (17, 1, 1) block (32, 1, 1) cluster 17 covers []
  driver.return
}

// -----

// torn_cluster
// CHECK: driver.launch grid x: expected a multiple of the 4 blocks of a cluster, got 6
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @torn_cluster rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (6, 4, 1) block (32, 1, 1) cluster 4 covers []
  driver.return
}

// -----

// carveout_past_all
// CHECK: driver.launch carveout: expected 0 to 100 percent, got 101
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @carveout_past_all rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (4, 1, 1) block (32, 1, 1) carveout 101 covers []
  driver.return
}

// -----

// carveout_below_none
// CHECK: driver.launch carveout: expected 0 to 100 percent, got -1
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @carveout_below_none rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (4, 1, 1) block (32, 1, 1) carveout -1 covers []
  driver.return
}

// -----

// carveouts_of_one_function
// CHECK: driver.step @carveouts_of_one_function: expected carveout 100 of @m::@f, as of its launch before, got none
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @carveouts_of_one_function rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (4, 1, 1) block (32, 1, 1) carveout 100 covers []
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (2, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// negative_shared
// CHECK: driver.launch shared: expected 0 to 232448 bytes, got -4
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @negative_shared rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) shared -4 covers []
  driver.return
}

// -----

// offset_past_the_buffer
// CHECK: driver.launch argument 0: expected an offset inside the buffer's 4 bytes, got 4
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @offset_past_the_buffer rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a + 4, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// no_such_module
// CHECK: driver.launch: expected @n::@f to be a driver.function, got none
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @no_such_module rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @n::@f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// no_such_function
// CHECK: driver.launch: expected @m::@g to be a driver.function, got none
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @no_such_function rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@g(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// too_few_arguments
// CHECK: driver.launch @m::@f: expected 3 arguments, got 2
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @too_few_arguments rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// number_for_an_address
// CHECK: driver.launch @m::@f argument 0: expected i64, got i32 (1 : i32)
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @number_for_an_address rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(1 : i32, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// null_for_a_number
// CHECK: driver.launch @m::@f argument 1: expected i32, got i64 (#driver.null)
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @null_for_a_number rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, null, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// whole_for_a_real
// CHECK: driver.launch @m::@f argument 2: expected f32, got i32 (1 : i32)
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @whole_for_a_real rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i32, 1 : i32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// argument_of_another_type
// CHECK: expected a buffer, an i32, an f32 or null, got 1 : i64
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @argument_of_another_type rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @m::@f(%a, 1 : i64, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// address_without_a_buffer
// CHECK: driver.launch: expected one buffer for each of 1 addresses, got 0
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @address_without_a_buffer rows 1 {
  %t = driver.io token bytes 4
  "driver.launch"() <{function = @m::@f, arguments = [#driver.address<0>, 1 : i32, 1.0 : f32], grid = array<i64: 1, 1, 1>, block = array<i64: 1, 1, 1>, shared = 0 : i64, covers = array<i64>}> : () -> ()
  driver.return
}

// -----

// function_without_a_module
// CHECK: expected @MODULE::@FUNCTION, got @f
driver.module @m compute_90 {
  driver.function @f(i64, i32, f32)
}
driver.step @function_without_a_module rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  driver.launch @f(%a, 1 : i32, 1.0 : f32) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}

// -----

// slices_over_each_other
// CHECK: driver.launch: expected slices that lie apart, got bytes 0 to 63 and 32 to 95 of one buffer
driver.module @m compute_90 {
  driver.function @f(i64, i64, i64)
}
driver.step @slices_over_each_other rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 256
  %x = driver.slice %a[0] bytes 64
  %y = driver.slice %a[32] bytes 64
  driver.launch @m::@f(%x, %y, %x) grid (1, 1, 1) block (32, 1, 1) covers []
  driver.return
}
