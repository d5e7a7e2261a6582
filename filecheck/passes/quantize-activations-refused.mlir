// RUN: lanelink-opt %s -p quantize-activations --verify-diagnostics --split-input-file | filecheck %s

// CHECK: quantize-activations: expected products by block formats outside fused ops (it runs before fuse), got one inside gemv_quant
func.func @inside(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>) -> !tgraph.q8<1x32> {
  %q = tgraph.fused gemv_quant(%a = %x : tensor<1x64xf32>, %b = %w : !tgraph.rows<q8_0, 32x64, transposed>)
    -> (!tgraph.q8<1x32>) {
    %y = tgraph.matmul %a, %b : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
    %z = tgraph.quantize %y : tensor<1x32xf32> -> !tgraph.q8<1x32>
    tgraph.yield %z : !tgraph.q8<1x32>
  }
  func.return %q : !tgraph.q8<1x32>
}

// -----

// CHECK: quantize-activations: expected products by block formats outside fused ops (it runs before fuse), got one inside part_in_place
func.func @head_inside(%x: tensor<1x128xf32>, %w: !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<1x64xf32> {
  %y = tgraph.fused part_in_place(%a = %x : tensor<1x128xf32>, %b = %w : !tgraph.rows<q8_0, 64x32, transposed>)
    -> (tensor<1x64xf32>) {
    %s = tgraph.head_slice %a start 0 width 32 every 64 : tensor<1x128xf32> -> tensor<1x64xf32>
    %z = tgraph.head_matmul %s, %b heads 2 inputs 32 outputs 32
      : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<1x64xf32>
    tgraph.yield %z : tensor<1x64xf32>
  }
  func.return %y : tensor<1x64xf32>
}
