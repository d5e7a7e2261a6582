// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect -p plan-buffers | filecheck %s

// CHECK: plan-buffers: expected a launch that writes %a before it is read, got launch.unary first
func.func @read_before_it_is_written(%y: memref<1x64xf32>) attributes {launch.lifted = 0 : i64} {
  %a = launch.alloc : memref<1x64xf32>
  launch.unary(x = %a : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers []
  func.return
}

// -----

// CHECK: plan-buffers: expected a launch that writes %a before it is read, got func.return first
func.func @returned_unwritten() -> memref<1x64xf32> attributes {launch.lifted = 0 : i64} {
  %a = launch.alloc : memref<1x64xf32>
  func.return %a : memref<1x64xf32>
}

// -----

// CHECK: plan-buffers: expected launches to use buffers, got test.op
func.func @used_by_another_op() attributes {launch.lifted = 0 : i64} {
  %a = launch.alloc : memref<1x64xf32>
  "test.op"(%a) : (memref<1x64xf32>) -> ()
  func.return
}
