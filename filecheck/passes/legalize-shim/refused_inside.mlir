// RUN: lanelink-opt %s -p number-ops,legalize-shim --split-input-file --verify-diagnostics | filecheck %s

// An op inside a native fused op is refused by its own number and its class.
// CHECK: op 1 tgraph.fused_row in add_norm: expected an rms norm, got layernorm
func.func @inside(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %h = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>) -> (tensor<1x32xf32>) {
    %s = tgraph.elementwise add %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %n = tgraph.fused_row layernorm %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
    tgraph.yield %n : tensor<1x32xf32>
  }
  func.return %h : tensor<1x32xf32>
}

// -----

// One that is decomposed, by its own.
// CHECK: refused_inside.mlir:21:5: op 1 tgraph.fused_row: expected an rms norm, got layernorm
func.func @of_parts(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %h = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>) -> (tensor<1x32xf32>) {
    %s = tgraph.elementwise sub %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %n = tgraph.fused_row layernorm %s cols 32 eps 1.000000e-06 : tensor<1x32xf32>
    tgraph.yield %n : tensor<1x32xf32>
  }
  func.return %h : tensor<1x32xf32>
}
