// RUN: lanelink import %S/../../tests/models/qwen3 -o %t.mlir --context 32 --sequences 2
// RUN: filecheck %s --check-prefix STEP < %t.mlir
// RUN: lanelink-opt %t.mlir -p number-ops,fuse,legalize-shim,link | filecheck %s --check-prefix LINKED
// RUN: lanelink-opt %t.mlir -p number-ops,fuse,legalize-shim,link,schedule-sequences | filecheck %s --check-prefix SCHEDULED
// RUN: lanelink-opt %t.mlir -p lanelink | filecheck %s --check-prefix DRIVER

// A step of two sequences, from its checkpoint to its calls. Each has tables and a position of its own; what it is
// turned by is gathered once for both.
// STEP: dequant, batch>
// STEP: func.func @step(%token: tensor<2xi32> {tgraph.token}{{.*}}, %position: tensor<2xi32> {tgraph.position}{{.*}}, %sequences_0_layers_0_keys: tensor<32x64xf32> {tgraph.state = "sequences.0.layers.0.keys"}{{.*}}, %sequences_1_layers_0_keys: tensor<32x64xf32> {tgraph.state = "sequences.1.layers.0.keys"}
// STEP: %position_1 = tgraph.view %position offset 0 : tensor<2xi32> -> tensor<1xi32>
// STEP-NEXT: %position_2 = tgraph.view %position offset 1 : tensor<2xi32> -> tensor<1xi32>
// STEP: %cos_rows = tgraph.rows_gather %cos at %position
// STEP: %keys = tgraph.set_row %sequences_0_layers_0_keys, %{{.*}} at %position_1
// STEP-NEXT: %keys_1 = tgraph.set_row %sequences_1_layers_0_keys, %{{.*}} at %position_2
// STEP: %attended_1 = tgraph.attention %{{.*}}, %keys_1, %values_1 at %position_2
// STEP-NEXT: %attended_2 = tgraph.set_row %rotated, %attended row 0
// STEP-NEXT: %attended_3 = tgraph.set_row %attended_2, %attended_1 row 1
// STEP: %next_position = tgraph.advance %position by 1 : (tensor<2xi32>) -> tensor<2xi32>

// LINKED: launch.set_row({{.*}}out = %sequences_1_layers_0_values {{.*}}, at = %position_2 : memref<1xi32>)
// LINKED: launch.attention({{.*}}keys = %sequences_0_layers_0_keys {{.*}}, out = %attended : memref<2x128xf32>) {{.*}}row = 0 : i64
// LINKED-NEXT: launch.attention({{.*}}keys = %sequences_1_layers_0_keys {{.*}}, out = %attended : memref<2x128xf32>) {{.*}}row = 1 : i64
// LINKED: launch.arg_max({{.*}}token = %token : memref<2xi32>, position = %position : memref<2xi32>)

// SCHEDULED: launch.sequences() {
// SCHEDULED-NEXT: launch.set_row({{.*}}out = %sequences_0_layers_0_keys
// SCHEDULED-NEXT: launch.set_row({{.*}}out = %sequences_1_layers_0_keys
// SCHEDULED-NEXT: launch.set_row({{.*}}out = %sequences_0_layers_0_values
// SCHEDULED-NEXT: launch.set_row({{.*}}out = %sequences_1_layers_0_values
// SCHEDULED-NEXT: }
// SCHEDULED: launch.sequences() {
// SCHEDULED-NEXT: launch.attention(
// SCHEDULED-NEXT: launch.attention(
// SCHEDULED-NEXT: }

// DRIVER: driver.step @step rows 2 context 32 {
// DRIVER: %token = driver.io token bytes 8
// DRIVER: %position = driver.io position bytes 8
// DRIVER: driver.state "sequences.1.layers.1.values" rows 32
// DRIVER: driver.launch @attention_64::@attention_64_sequences({{.*}}%position, {{.*}}%position + 4,
// DRIVER: driver.launch @arg_max::@arg_max_rows({{.*}}, %token, %position) grid (1, 2, 1)
// DRIVER: driver.return chosen %token
