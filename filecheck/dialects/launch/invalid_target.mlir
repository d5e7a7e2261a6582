// RUN: lanelink-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: target capability: expected 80 to 999, got 75
builtin.module attributes {launch.target = #launch.target<"chip", capability 75, sms 132, shared 227, int8>} {}

// -----

// CHECK: target capability: expected 80 to 999, got 1000
builtin.module attributes {launch.target = #launch.target<"chip", capability 1000, sms 132, shared 227, int8>} {}

// -----

// CHECK: target sms: expected 1 to 4096, got 0
builtin.module attributes {launch.target = #launch.target<"chip", capability 90, sms 0, shared 227, int8>} {}

// -----

// CHECK: target sms: expected 1 to 4096, got 99999999999999999999
builtin.module attributes {launch.target = #launch.target<"chip", capability 90, sms 99999999999999999999, shared 227, int8>} {}

// -----

// CHECK: target shared: expected 48 to 1024, got 47
builtin.module attributes {launch.target = #launch.target<"chip", capability 90, sms 132, shared 47, int8>} {}

// -----

// CHECK: target shared: expected 48 to 1024, got 1025
builtin.module attributes {launch.target = #launch.target<"chip", capability 90, sms 132, shared 1025, int8>} {}
