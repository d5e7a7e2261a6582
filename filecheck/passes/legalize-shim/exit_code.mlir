// RUN: rm -f %t.out
// RUN: not lanelink-opt %s -p number-ops,legalize-shim -o %t.out 2>&1 | filecheck %s
// RUN: not cat %t.out
// RUN: not lanelink-opt %s -p number-ops,legalize-shim 2>%t.err | filecheck %s --allow-empty --check-prefix=NOTHING
// RUN: not lanelink-opt %s -p number-ops,lanelink 2>&1 | filecheck %s

// A refusal is one line on stderr, where it is known where; exit 1, and nothing is written.
// CHECK: model.layers.7.mlp: op 1 tgraph.matmul: expected a constant matrix, got one computed in the step
// NOTHING-NOT: {{.}}
builtin.module {
  func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32> {tgraph.state = "x"}, %a: tensor<64x32xf32> {tgraph.state = "a"}) -> (tensor<1x32xf32>, tensor<1x64xf32> {tgraph.carry = 1 : i64}, tensor<64x32xf32> {tgraph.carry = 2 : i64}) {
    %w = tgraph.silu %a : tensor<64x32xf32> -> tensor<64x32xf32>
    %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32> loc("model.layers.7.mlp")
    func.return %y, %x, %a : tensor<1x32xf32>, tensor<1x64xf32>, tensor<64x32xf32>
  }
}
