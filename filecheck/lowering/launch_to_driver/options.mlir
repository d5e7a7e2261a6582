// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver' | filecheck %s --check-prefix=DEFAULT
// RUN: lanelink-opt %s -p 'plan-buffers,lower-to-driver{architecture="compute_80"}' | filecheck %s --check-prefix=OLDER

// Launches marked dependent are so where the kernel waits itself, which compute_80 cannot; the others never.
// DEFAULT: driver.module @elementwise compute_90
// DEFAULT: driver.launch {{.*}} block (32, 1, 1) covers [0]
// DEFAULT: driver.launch {{.*}} block (32, 1, 1) dependent covers [1]

// OLDER: driver.module @elementwise compute_80
// OLDER: driver.launch {{.*}} block (32, 1, 1) covers [0]
// OLDER: driver.launch {{.*}} block (32, 1, 1) covers [1]
func.func @step(
  %token: memref<1xi32> {tgraph.token},
  %x: memref<1x64xf32> {tgraph.state = "x"},
  %y: memref<1x64xf32> {tgraph.state = "y"},
  %z: memref<1x64xf32> {tgraph.state = "z"}) attributes {launch.lifted = 2 : i64} {
  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act gelu>} covers [0]
  launch.unary(x = %y : memref<1x64xf32>, out = %z : memref<1x64xf32>) {dependent, act = #launch<act gelu>} covers [1]
  func.return
}
