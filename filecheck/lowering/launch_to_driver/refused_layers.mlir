// RUN: not lanelink-opt %s -p number-ops,fuse,legalize-shim,link,plan-buffers,lower-to-driver 2>&1 | filecheck %s

// A launch of a form that no kernel takes is refused by its name, on one line.
// CHECK: lower-to-driver norm: {{.*}}x_pitch
// CHECK-NOT: Traceback
func.func @step(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, %x: tensor<1x128xf32>) -> (tensor<1x64xf32> {tgraph.logits}) {
  %n = tgraph.constant #tgraph.checkpoint<"n"> : tensor<64xf32>
  %a = tgraph.head_slice %x start 0 width 64 every 128 : tensor<1x128xf32> -> tensor<1x64xf32>
  %y = tgraph.fused_row rms %a weight %n : tensor<64xf32> cols 64 eps 1.0 : tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}
