// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver' | filecheck %s --check-prefix=DEFAULT
// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver{dependent=false}' | filecheck %s --check-prefix=PLAIN
// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver{architecture="compute_80"}' | filecheck %s --check-prefix=OLDER

// DEFAULT: driver.module @elementwise compute_90
// DEFAULT: driver.launch {{.*}} block (32, 1, 1) dependent covers [0]

// PLAIN: driver.module @elementwise compute_90
// PLAIN: driver.launch {{.*}} block (32, 1, 1) covers [0]

// OLDER: driver.module @elementwise compute_80
// OLDER: driver.launch {{.*}} block (32, 1, 1) covers [0]
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x64xf32> {tgraph.state = "y"}) attributes {launch.lifted = 1 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act gelu>} covers [0]
  func.return
}
