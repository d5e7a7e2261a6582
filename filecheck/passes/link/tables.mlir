// RUN: lanelink-opt %s -p number-ops,legalize-shim,link --split-input-file | filecheck %s

// Where tables that are written lie: in place, unless a reader still needs the old rows.

// Rows land in the argument that the next step finds them in.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %u : memref<8x32xf32>) {row = 6 : i64} covers [1]
// CHECK-NEXT: func.return
func.func @in_place(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %u1 = tgraph.set_row %u, %x row 6 : (tensor<8x32xf32>, tensor<2x32xf32>) -> tensor<8x32xf32>
  func.return %t1, %u1 : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// A reader before the write needs no copy.
// CHECK-LABEL: func.func @read_before(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %y = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.attention(q = %x : memref<2x32xf32>, keys = %t : memref<8x32xf32>, values = %t : memref<8x32xf32>, position = %p : memref<1xi32>, out = %y : memref<2x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [0]
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [1]
// CHECK-NEXT: func.return %y : memref<2x32xf32>
func.func @read_before(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<2x32xf32>) {
  %y = tgraph.attention %x, %t, %t at %p heads 2 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<2x32xf32>
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1, %u, %y : tensor<8x32xf32>, tensor<8x32xf32>, tensor<2x32xf32>
}

// -----

// A reader after it reads the old rows: the new ones go to a copy, and from there to the argument at the end.
// CHECK-LABEL: func.func @read_after(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: %y = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.attention(q = %x : memref<2x32xf32>, keys = %t : memref<8x32xf32>, values = %t : memref<8x32xf32>, position = %p : memref<1xi32>, out = %y : memref<2x32xf32>) {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 16 : i64, value_dim = 16 : i64, scale = 2.500000e-01 : f32} covers [1]
// CHECK-NEXT: launch.copy(x = %t1 : memref<8x32xf32>, out = %t : memref<8x32xf32>) covers []
// CHECK-NEXT: func.return %y : memref<2x32xf32>
func.func @read_after(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<2x32xf32>) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %y = tgraph.attention %x, %t, %t at %p heads 2 kv_heads 2 head_dim 16 value_dim 16 : tensor<2x32xf32>, tensor<8x32xf32>, tensor<8x32xf32> -> tensor<2x32xf32>
  func.return %t1, %u, %y : tensor<8x32xf32>, tensor<8x32xf32>, tensor<2x32xf32>
}

// -----

// So does one that returns them.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: %0 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %0 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.copy(x = %t1 : memref<8x32xf32>, out = %t : memref<8x32xf32>) covers []
// CHECK-NEXT: func.return %0 : memref<8x32xf32>
func.func @returned(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<8x32xf32>) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1, %u, %t : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// A table written twice in turn is one buffer.
// CHECK-LABEL: func.func @written_twice(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>) {row = 0 : i64} covers [1]
// CHECK-NEXT: func.return
func.func @written_twice(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %t2 = tgraph.set_row %t1, %x row 0 : (tensor<8x32xf32>, tensor<2x32xf32>) -> tensor<8x32xf32>
  func.return %t2, %u : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// Two writes of one table are two tables; the last has the buffer.
// CHECK-LABEL: func.func @written_from_one_beginning(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>) {row = 0 : i64} covers [1]
// CHECK-NEXT: func.return %t1 : memref<8x32xf32>
func.func @written_from_one_beginning(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<8x32xf32>) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %t2 = tgraph.set_row %t, %x row 0 : (tensor<8x32xf32>, tensor<2x32xf32>) -> tensor<8x32xf32>
  func.return %t2, %u, %t1 : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// A view read after is a reader; one read before is none.
// CHECK-LABEL: func.func @view_read_after(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %v = launch.view %t offset 0 covers [0] : memref<8x32xf32> -> memref<2x32xf32>
// CHECK-NEXT: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [1]
// CHECK-NEXT: %y = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %v : memref<2x32xf32>, out = %y : memref<2x32xf32>) {act = #launch<act silu>} covers [2]
// CHECK-NEXT: launch.copy(x = %t1 : memref<8x32xf32>, out = %t : memref<8x32xf32>) covers []
// CHECK-NEXT: func.return %y : memref<2x32xf32>
func.func @view_read_after(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<2x32xf32>) {
  %v = tgraph.view %t offset 0 : tensor<8x32xf32> -> tensor<2x32xf32>
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %y = tgraph.silu %v : tensor<2x32xf32> -> tensor<2x32xf32>
  func.return %t1, %u, %y : tensor<8x32xf32>, tensor<8x32xf32>, tensor<2x32xf32>
}

// -----

// CHECK-LABEL: func.func @view_read_before(
// CHECK-SAME: launch.lifted = 3 : i64
// CHECK: %v = launch.view %t offset 0 covers [0] : memref<8x32xf32> -> memref<2x32xf32>
// CHECK-NEXT: %y = launch.alloc : memref<2x32xf32>
// CHECK-NEXT: launch.unary(x = %v : memref<2x32xf32>, out = %y : memref<2x32xf32>) {act = #launch<act silu>} covers [1]
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [2]
// CHECK-NEXT: func.return %y : memref<2x32xf32>
func.func @view_read_before(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}, tensor<2x32xf32>) {
  %v = tgraph.view %t offset 0 : tensor<8x32xf32> -> tensor<2x32xf32>
  %y = tgraph.silu %v : tensor<2x32xf32> -> tensor<2x32xf32>
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1, %u, %y : tensor<8x32xf32>, tensor<8x32xf32>, tensor<2x32xf32>
}

// -----

// Rows copied within a table would be read while they are written.
// CHECK-LABEL: func.func @source_in_the_table(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: %v = launch.view %t offset 0 covers [0] : memref<8x32xf32> -> memref<2x32xf32>
// CHECK-NEXT: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %v : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [1]
// CHECK-NEXT: launch.copy(x = %t1 : memref<8x32xf32>, out = %t : memref<8x32xf32>) covers []
// CHECK-NEXT: func.return
func.func @source_in_the_table(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}) {
  %v = tgraph.view %t offset 0 : tensor<8x32xf32> -> tensor<2x32xf32>
  %t1 = tgraph.set_row %t, %v at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1, %u : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// Two results that change places move past each other.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: %0 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %u : memref<8x32xf32>, out = %0 : memref<8x32xf32>) covers []
// CHECK-NEXT: %1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.copy(x = %0 : memref<8x32xf32>, out = %t : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.copy(x = %1 : memref<8x32xf32>, out = %u : memref<8x32xf32>) covers []
// CHECK-NEXT: func.return
func.func @swapped(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %u: tensor<8x32xf32> {tgraph.state = "u"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<8x32xf32> {tgraph.carry = 2}) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %u, %t1 : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// An argument that no result becomes is the same at the next step.
// CHECK-LABEL: func.func @argument_that_stays(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: func.return %t1 : memref<8x32xf32>
func.func @argument_that_stays(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32>, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32>) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1 : tensor<8x32xf32>
}

// -----

// A constant is not written.
// CHECK-LABEL: func.func @constant_table(
// CHECK-SAME: launch.lifted = 1 : i64
// CHECK: %t1 = launch.alloc : memref<8x32xf32>
// CHECK-NEXT: launch.copy(x = %t : memref<8x32xf32>, out = %t1 : memref<8x32xf32>) covers []
// CHECK-NEXT: launch.set_row(source = %x : memref<2x32xf32>, out = %t1 : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: func.return %t1 : memref<8x32xf32>
func.func @constant_table(%token: tensor<2xi32> {tgraph.token}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32>) {
  %t = tgraph.constant #tgraph.checkpoint<"t"> : tensor<8x32xf32>
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  func.return %t1 : tensor<8x32xf32>
}

// -----

// A row of a computed table is copied out of a view of it.
// CHECK-LABEL: func.func @fixed_row(
// CHECK-SAME: launch.lifted = 2 : i64
// CHECK: launch.set_row(source = %x : memref<2x32xf32>, out = %t : memref<8x32xf32>, at = %p : memref<1xi32>) covers [0]
// CHECK-NEXT: %y = launch.alloc : memref<1x32xf32>
// CHECK-NEXT: %0 = launch.view %t offset 192 covers [] : memref<8x32xf32> -> memref<1x32xf32>
// CHECK-NEXT: launch.copy(x = %0 : memref<1x32xf32>, out = %y : memref<1x32xf32>) covers [1]
// CHECK-NEXT: func.return %y : memref<1x32xf32>
func.func @fixed_row(%token: tensor<2xi32> {tgraph.token}, %t: tensor<8x32xf32> {tgraph.state = "t"}, %x: tensor<2x32xf32>, %p: tensor<1xi32>) -> (tensor<8x32xf32> {tgraph.carry = 1}, tensor<1x32xf32>) {
  %t1 = tgraph.set_row %t, %x at %p : (tensor<8x32xf32>, tensor<2x32xf32>, tensor<1xi32>) -> tensor<8x32xf32>
  %y = tgraph.row_gather %t1 row 6 : (tensor<8x32xf32>) -> tensor<1x32xf32>
  func.return %t1, %y : tensor<8x32xf32>, tensor<1x32xf32>
}
