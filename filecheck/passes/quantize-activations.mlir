// RUN: lanelink-opt %s -p quantize-activations --split-input-file | filecheck %s
// RUN: lanelink-opt %s -p quantize-activations,quantize-activations --split-input-file | filecheck %s

// One quantize to a tensor, right after its definition; the norm and the other reader are as they were.
builtin.module attributes {launch.target = #launch.target<"h200", capability 90, sms 132, shared 227, int8>} {
  // CHECK-LABEL: func.func @one_to_a_tensor
  func.func @one_to_a_tensor(%x: tensor<2x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>,
      %u: !tgraph.rows<q4_0, 32x64, transposed>) -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>) {
    // CHECK-NEXT: %h = tgraph.fused_row rms %x cols 64
    // CHECK-NEXT: %h_q8 = tgraph.quantize %h : tensor<2x64xf32> -> !tgraph.q8<2x64>
    // CHECK-NEXT: %r = tgraph.silu %h
    // CHECK-NEXT: tgraph.matmul %h_q8, %w : (!tgraph.q8<2x64>, !tgraph.rows<q8_0, 32x64, transposed>)
    // CHECK-NEXT: tgraph.matmul %h_q8, %u : (!tgraph.q8<2x64>, !tgraph.rows<q4_0, 32x64, transposed>)
    // CHECK-NEXT: func.return
    %h = tgraph.fused_row rms %x cols 64 eps 1.000000e-06 : tensor<2x64xf32>
    %r = tgraph.silu %h : tensor<2x64xf32> -> tensor<2x64xf32>
    %y = tgraph.matmul %h, %w : (tensor<2x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<2x32xf32>
    %z = tgraph.matmul %h, %u : (tensor<2x64xf32>, !tgraph.rows<q4_0, 32x64, transposed>) -> tensor<2x32xf32>
    func.return %y, %z, %r : tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x64xf32>
  }

  // An argument is defined where the function starts.
  // CHECK-LABEL: func.func @argument
  func.func @argument(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>)
      -> (tensor<1x64xf32>, tensor<1x32xf32>) {
    // CHECK-NEXT: %x_q8 = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
    // CHECK-NEXT: tgraph.silu %x
    // CHECK-NEXT: tgraph.matmul %x_q8, %w
    %r = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
    %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
    func.return %r, %y : tensor<1x64xf32>, tensor<1x32xf32>
  }

  // A quantize already there serves.
  // CHECK-LABEL: func.func @already_there
  func.func @already_there(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>)
      -> (!tgraph.q8<1x64>, tensor<1x32xf32>) {
    // CHECK-NEXT: %q = tgraph.quantize %x
    // CHECK-NEXT: tgraph.matmul %q, %w
    // CHECK-NEXT: func.return
    %q = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
    %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
    func.return %q, %y : !tgraph.q8<1x64>, tensor<1x32xf32>
  }

  // Rows that are not blocks, values, and rows that are not the product's outputs keep their f32 activation.
  // CHECK-LABEL: func.func @stays_f32
  func.func @stays_f32(%x: tensor<1x64xf32>, %a: !tgraph.rows<bf16, 32x64, transposed>,
      %b: !tgraph.rows<f16, 32x64, transposed>, %c: tensor<64x32xf32>, %d: !tgraph.rows<q8_0, 64x32>)
      -> (tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) {
    // CHECK-NEXT: tgraph.matmul %x, %a
    // CHECK-NEXT: tgraph.matmul %x, %b
    // CHECK-NEXT: tgraph.matmul %x, %c
    // CHECK-NEXT: tgraph.matmul %x, %d
    %0 = tgraph.matmul %x, %a : (tensor<1x64xf32>, !tgraph.rows<bf16, 32x64, transposed>) -> tensor<1x32xf32>
    %1 = tgraph.matmul %x, %b : (tensor<1x64xf32>, !tgraph.rows<f16, 32x64, transposed>) -> tensor<1x32xf32>
    %2 = tgraph.matmul %x, %c : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
    %3 = tgraph.matmul %x, %d : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32>) -> tensor<1x32xf32>
    func.return %0, %1, %2, %3 : tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>
  }

  // A mixture's router reads the f32 rows unless it is blocks by outputs itself; what it is otherwise stays.
  // CHECK-LABEL: func.func @mixtures
  func.func @mixtures(%x: tensor<1x64xf32>, %r: tensor<64x4xf32>, %b: !tgraph.rows<bf16, 4x64, transposed>,
      %q: !tgraph.rows<q8_0, 4x64, transposed>, %w: !tgraph.rows<q8_0, 128x64, transposed>,
      %d: !tgraph.rows<q8_0, 256x32, transposed>, %bias: tensor<1x4xf32>, %down: tensor<4x64xf32>, %y: tensor<1x64xf32>)
      -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
    // CHECK-NEXT: %x_q8 = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
    // CHECK-NEXT: %0 = tgraph.moe softmax silu %x_q8, %r, %w, %w, %d router_x %x : tensor<1x64xf32> router_bias %bias : tensor<1x4xf32> down_bias %down : tensor<4x64xf32> experts 4 top_k 2 hidden 32 renormalize {why = "kept"} : !tgraph.q8<1x64>
    // CHECK-NEXT: tgraph.moe softmax silu %x_q8, %b, %w, %w, %d router_x %x : tensor<1x64xf32> experts
    // CHECK-NEXT: tgraph.moe softmax silu %x_q8, %q, %w, %w, %d experts
    // CHECK-NEXT: tgraph.moe softmax silu %x_q8, %b, %w, %w, %d router_x %y : tensor<1x64xf32> experts
    // CHECK-NEXT: func.return %0
    %0 = tgraph.moe softmax silu %x, %r, %w, %w, %d router_bias %bias : tensor<1x4xf32> down_bias %down : tensor<4x64xf32> experts 4 top_k 2 hidden 32 renormalize {why = "kept"}
      : tensor<1x64xf32>, tensor<64x4xf32>, !tgraph.rows<q8_0, 128x64, transposed>,
        !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %1 = tgraph.moe softmax silu %x, %b, %w, %w, %d experts 4 top_k 2 hidden 32
      : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
        !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %2 = tgraph.moe softmax silu %x, %q, %w, %w, %d experts 4 top_k 2 hidden 32
      : tensor<1x64xf32>, !tgraph.rows<q8_0, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
        !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    %3 = tgraph.moe softmax silu %x, %b, %w, %w, %d router_x %y : tensor<1x64xf32> experts 4 top_k 2 hidden 32
      : tensor<1x64xf32>, !tgraph.rows<bf16, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
        !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<q8_0, 256x32, transposed> -> tensor<1x64xf32>
    func.return %0, %1, %2, %3 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
  }

  // One expert matrix that is not blocks by outputs, and the whole mixture stays.
  // CHECK-LABEL: func.func @mixtures_stay_f32
  func.func @mixtures_stay_f32(%x: tensor<1x64xf32>, %q: !tgraph.rows<q8_0, 4x64, transposed>,
      %w: !tgraph.rows<bf16, 128x64, transposed>, %d: !tgraph.rows<bf16, 256x32, transposed>, %v: !tgraph.rows<q8_0, 128x64, transposed>)
      -> (tensor<1x64xf32>, tensor<1x64xf32>) {
    // CHECK-NEXT: tgraph.moe softmax silu %x,
    // CHECK-NEXT: tgraph.moe softmax silu %x,
    %0 = tgraph.moe softmax silu %x, %q, %w, %w, %d experts 4 top_k 2 hidden 32
      : tensor<1x64xf32>, !tgraph.rows<q8_0, 4x64, transposed>, !tgraph.rows<bf16, 128x64, transposed>,
        !tgraph.rows<bf16, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
    %1 = tgraph.moe softmax silu %x, %q, %v, %v, %d experts 4 top_k 2 hidden 32
      : tensor<1x64xf32>, !tgraph.rows<q8_0, 4x64, transposed>, !tgraph.rows<q8_0, 128x64, transposed>,
        !tgraph.rows<q8_0, 128x64, transposed>, !tgraph.rows<bf16, 256x32, transposed> -> tensor<1x64xf32>
    func.return %0, %1 : tensor<1x64xf32>, tensor<1x64xf32>
  }

  // A product a head by outputs in blocks; by inputs in blocks, by half-precision rows, by values.
  // CHECK-LABEL: func.func @heads
  func.func @heads(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 64x32, transposed>, %u: !tgraph.rows<q8_0, 64x32>,
      %h: !tgraph.rows<bf16, 64x32, transposed>, %v: tensor<64x32xf32>)
      -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
    // CHECK-NEXT: tgraph.quantize %x
    // CHECK-NEXT: tgraph.head_matmul %x_q8, %w heads 2 inputs 32 outputs 32
    // CHECK-NEXT: tgraph.head_matmul %x, %u
    // CHECK-NEXT: tgraph.head_matmul %x, %h
    // CHECK-NEXT: tgraph.head_matmul %x, %v
    %0 = tgraph.head_matmul %x, %w heads 2 inputs 32 outputs 32
      : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32, transposed>) -> tensor<1x64xf32>
    %1 = tgraph.head_matmul %x, %u heads 2 inputs 32 outputs 32
      : (tensor<1x64xf32>, !tgraph.rows<q8_0, 64x32>) -> tensor<1x64xf32>
    %2 = tgraph.head_matmul %x, %h heads 2 inputs 32 outputs 32
      : (tensor<1x64xf32>, !tgraph.rows<bf16, 64x32, transposed>) -> tensor<1x64xf32>
    %3 = tgraph.head_matmul %x, %v heads 2 inputs 32 outputs 32
      : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>
    func.return %0, %1, %2, %3 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
  }
}

// -----

builtin.module attributes {launch.target = #launch.target<"h200", capability 90, sms 132, shared 227, two_pass_int8>} {
  // CHECK-LABEL: func.func @two_planes
  func.func @two_planes(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>)
      -> (!tgraph.q8<1x64>, tensor<1x32xf32>) {
    // A quantize in one plane does not serve a product in two.
    // CHECK-NEXT: %x_q8 = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64, two_plane>
    // CHECK-NEXT: %q = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
    // CHECK-NEXT: tgraph.matmul %x_q8, %w : (!tgraph.q8<1x64, two_plane>, !tgraph.rows<q8_0, 32x64, transposed>)
    %q = tgraph.quantize %x : tensor<1x64xf32> -> !tgraph.q8<1x64>
    %y = tgraph.matmul %x, %w : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
    func.return %q, %y : !tgraph.q8<1x64>, tensor<1x32xf32>
  }
}

// -----

builtin.module attributes {launch.target = #launch.target<"h200", capability 90, sms 132, shared 227, dequant>} {
  // CHECK-LABEL: func.func @dequant
  func.func @dequant(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32> {
    // CHECK-NEXT: tgraph.matmul %x, %w number 4
    %y = tgraph.matmul %x, %w number 4 : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
    func.return %y : tensor<1x32xf32>
  }
}

// -----

// No target is the preset h200, whose numerics are int8. A numbered step is numbered anew.
// CHECK-LABEL: func.func @numbered
func.func @numbered(%x: tensor<1x64xf32>, %w: !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32> {
  // CHECK-NEXT: tgraph.silu %x number 0
  // CHECK-NEXT: tgraph.quantize %r number 1
  // CHECK-NEXT: tgraph.matmul %r_q8, %w number 2
  %r = tgraph.silu %x number 0 : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = tgraph.matmul %r, %w number 1 : (tensor<1x64xf32>, !tgraph.rows<q8_0, 32x64, transposed>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}
