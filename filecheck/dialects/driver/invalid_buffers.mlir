// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics --allow-unregistered-dialect | filecheck %s

// buffer_of_no_bytes
// CHECK: driver.arena: expected at least 1 byte, got 0
driver.step @buffer_of_no_bytes rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 0
  driver.return
}

// -----

// state_of_no_bytes
// CHECK: driver.state: expected at least 1 byte, got -4
driver.step @state_of_no_bytes rows 1 {
  %t = driver.io token bytes 4
  %a = driver.state "s" bytes -4
  driver.return
}

// -----

// scratch_of_no_bytes
// CHECK: driver.scratch: expected at least 1 byte, got 0
driver.step @scratch_of_no_bytes rows 1 {
  %t = driver.io token bytes 4
  %a = driver.scratch partials bytes 0
  driver.return
}

// -----

// slice_past_the_end
// CHECK: driver.slice: expected 257 bytes inside the source's 512, got them from 256 on
driver.step @slice_past_the_end rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 512
  %s = driver.slice %a[256] bytes 257
  driver.return
}

// -----

// slice_before_the_start
// CHECK: driver.slice: expected 4 bytes inside the source's 512, got them from -4 on
driver.step @slice_before_the_start rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 512
  %s = driver.slice %a[-4] bytes 4
  driver.return
}

// -----

// slice_of_another_op
// CHECK: driver.slice source: expected a buffer of a driver op, got !driver.buffer of another
driver.step @slice_of_another_op rows 1 {
  %t = driver.io token bytes 4
  %a = "test.op"() : () -> !driver.buffer
  %s = driver.slice %a[0] bytes 4
  driver.return
}

// -----

// two_positions_of_three_rows
// CHECK: driver.step @two_positions_of_three_rows: expected an io position of 4 bytes, or of 12, one a row, got 8 bytes
driver.step @two_positions_of_three_rows rows 3 {
  %t = driver.io token bytes 12
  %p = driver.io position bytes 8
  driver.return
}

// -----

// half_a_position
// CHECK: driver.io position: expected a multiple of 4 bytes, got 6
driver.step @half_a_position rows 1 {
  %t = driver.io token bytes 4
  %p = driver.io position bytes 6
  driver.return
}

// -----

// state_of_no_sequence
// CHECK: driver.step @state_of_no_sequence: expected a state of a sequence below 2, got 'sequences.2.keys'
driver.step @state_of_no_sequence rows 2 {
  %t = driver.io token bytes 8
  %p = driver.io position bytes 8
  %s = driver.state "sequences.2.keys" bytes 64
  driver.return
}

// -----

// part_of_a_token
// CHECK: driver.io token: expected a multiple of 4 bytes, got 6
driver.step @part_of_a_token rows 1 {
  %t = driver.io token bytes 6
  %p = driver.io position bytes 4
  driver.return
}

// -----

// values_of_other_bytes
// CHECK: driver.constant: expected 512 bytes for #driver.values<4x32>, got 500
driver.step @values_of_other_bytes rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.checkpoint<"n"> as #driver.values<4x32> bytes 500
  driver.return
}

// -----

// table_as_planes
// CHECK: driver.constant: expected a rotation table as values, got #driver.planes<f32, 4x1>
driver.step @table_as_planes rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.rope_table<cos, [1.0], scale 1.0> as #driver.planes<f32, 4x1> bytes 16
  driver.return
}

// -----

// table_of_other_rows
// CHECK: driver.constant: expected rows of 1 values, one a frequency, got #driver.values<4x2>
driver.step @table_of_other_rows rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.rope_table<cos, [1.0], scale 1.0> as #driver.values<4x2> bytes 32
  driver.return
}

// -----

// planes_in_parts_of_a_block
// CHECK: planes: expected at least 1 row of a multiple of 32 values (q8_0), got 4x48
driver.step @planes_in_parts_of_a_block rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.checkpoint<"n"> as #driver.planes<q8_0, 4x48> bytes 16
  driver.return
}

// -----

// values_of_no_size
// CHECK: values: expected sizes of at least 1, got [4, 0]
driver.step @values_of_no_size rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.checkpoint<"n"> as #driver.values<4x0> bytes 16
  driver.return
}

// -----

// planes_by_another_view
// CHECK: driver.constant: expected a view of 4 rows for a constant of 4x8, got one of 3
driver.step @planes_by_another_view rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.checkpoint<"w", rows offset 0 sizes [3] strides [1]> as #driver.planes<f32, 4x8> bytes 128
  driver.return
}

// -----

// values_by_another_view
// CHECK: driver.constant: expected a view of 32 values for a constant of 4x8, got one of 3
driver.step @values_by_another_view rows 1 {
  %t = driver.io token bytes 4
  %n = driver.constant #tgraph.checkpoint<"w", values offset 0 sizes [3] strides [1]> as #driver.values<4x8> bytes 128
  driver.return
}

// -----

// rows_of_parts_of_values
// CHECK: driver.state rows: expected a number of rows of whole values in 64 bytes, got 3
driver.step @rows_of_parts_of_values rows 1 context 3 {
  %t = driver.io token bytes 4
  %a = driver.state "s" rows 3 bytes 64
  driver.return
}
