// RUN: lanelink-opt %s --split-input-file --verify-diagnostics -p 'plan-buffers,lower-to-driver{architecture="compute_90"}' | filecheck %s

// CHECK: lower-to-driver architecture: expected at most compute_80, the target's, got compute_90
module attributes {launch.target = #launch.target<"a100", capability 80, sms 108, shared 163, int8>} {
  func.func @step(%token: memref<1xi32> {tgraph.token}) attributes {launch.lifted = 0 : i64} {
    func.return
  }
}
