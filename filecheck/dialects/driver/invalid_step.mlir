// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics --allow-unregistered-dialect | filecheck %s

// no_rows
// CHECK: driver.step @no_rows: expected rows of 1 to the context, got 0 and none
driver.step @no_rows rows 0 {
  %t = driver.io token bytes 4
  driver.return
}

// -----

// context_below_the_rows
// CHECK: driver.step @context_below_the_rows: expected rows of 1 to the context, got 4 and 3
driver.step @context_below_the_rows rows 4 context 3 {
  %t = driver.io token bytes 4
  driver.return
}

// -----

// another_op_inside
// CHECK: driver.step @another_op_inside: expected buffers and launches inside, got test.op
driver.step @another_op_inside rows 1 {
  %t = driver.io token bytes 4
  "test.op"() : () -> ()
  driver.return
}

// -----

// two_arenas
// CHECK: driver.step @two_arenas: expected at most one arena, got 2
driver.step @two_arenas rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 4
  %b = driver.arena bytes 4
  driver.return
}

// -----

// two_positions
// CHECK: driver.step @two_positions: expected at most one io position, got 2
driver.step @two_positions rows 1 {
  %t = driver.io token bytes 4
  %a = driver.io position bytes 4
  %b = driver.io position bytes 4
  driver.return
}

// -----

// two_states_of_a_name
// CHECK: driver.step @two_states_of_a_name: expected at most one state 's', got 2
driver.step @two_states_of_a_name rows 1 {
  %t = driver.io token bytes 4
  %a = driver.state "s" bytes 4
  %b = driver.state "s" bytes 4
  driver.return
}

// -----

// two_scratches_of_a_kind
// CHECK: driver.step @two_scratches_of_a_kind: expected at most one scratch counters, got 2
driver.step @two_scratches_of_a_kind rows 1 {
  %t = driver.io token bytes 4
  %a = driver.scratch counters bytes 4
  %b = driver.scratch counters bytes 4
  driver.return
}

// -----

// no_token
// CHECK: driver.step @no_token: expected an io token of 4 bytes, got none
driver.step @no_token rows 1 {
  driver.return
}

// -----

// token_of_other_rows
// CHECK: driver.step @token_of_other_rows: expected an io token of 8 bytes, got 4 bytes
driver.step @token_of_other_rows rows 2 {
  %t = driver.io token bytes 4
  driver.return
}

// -----

// chosen_of_other_bytes
// CHECK: driver.step @chosen_of_other_bytes chosen: expected 4 bytes, got 8
driver.step @chosen_of_other_bytes rows 1 {
  %t = driver.io token bytes 4
  %a = driver.arena bytes 8
  driver.return chosen %a
}

// -----

// logits_in_parts_of_a_row
// CHECK: driver.step @logits_in_parts_of_a_row logits: expected a multiple of 8 bytes, got 12
driver.step @logits_in_parts_of_a_row rows 2 {
  %t = driver.io token bytes 8
  %a = driver.arena bytes 12
  driver.return logits %a
}

// -----

// no_return
// CHECK: Operation driver.io terminates block in single-block region but is not a terminator
driver.step @no_return rows 1 {
  %t = driver.io token bytes 4
}

// -----

// return_outside_a_step
// CHECK: 'driver.return' expects parent op 'driver.step'
%a = "test.op"() : () -> !driver.buffer
driver.return chosen %a

// -----

// context_past_a_table
// CHECK: driver.step @context_past_a_table context: expected at most the 8 rows of state 'keys', got 16
driver.step @context_past_a_table rows 1 context 16 {
  %t = driver.io token bytes 4
  %a = driver.state "keys" rows 8 bytes 256
  driver.return
}

// -----

// table_without_a_context
// CHECK: driver.step @table_without_a_context context: expected at most the 8 rows of state 'keys', got none
driver.step @table_without_a_context rows 1 {
  %t = driver.io token bytes 4
  %a = driver.state "keys" rows 8 bytes 256
  driver.return
}

// -----

// covered_twice
// CHECK: driver.step @covered_twice: expected each lifted op covered by one launch, got several for [3]
driver.module @m compute_90 {
  driver.function @f(i64)
}
driver.step @covered_twice rows 1 {
  %t = driver.io token bytes 4
  driver.launch @m::@f(%t) grid (1, 1, 1) block (32, 1, 1) covers [2, 3]
  driver.launch @m::@f(%t) grid (1, 1, 1) block (32, 1, 1) covers [3, 4]
  driver.return
}
