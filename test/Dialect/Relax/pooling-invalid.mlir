// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt --split-input-file --verify-diagnostics %s

relax.func @rank(%x: tensor<1x8xf32>) {
  // expected-error @+2 {{'relax.max_pool1d' op data must have rank 3, got rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  relax.return
}

// -----

relax.func @element_type(%x: tensor<1x8x8xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of floating-point values, but got 'tensor<1x8x8xi32>'}}
  %0 = relax.avg_pool1d %x : (tensor<1x8x8xi32>) -> tensor<1x8x8xi32>
  relax.return
}

// -----

relax.func @pool_size(%x: tensor<1x8x8xf32>) {
  // expected-error @+2 {{pool_size must be at least 1, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x {pool_size = array<i64: 0>} : (tensor<1x8x8xf32>) -> tensor<1x8x9xf32>
  relax.return
}

// -----

relax.func @count(%x: tensor<1x8x8xf32>) {
  // expected-error @+2 {{pool_size must have 1 value, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x {pool_size = array<i64: 1, 1>} : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  relax.return
}

// -----

relax.func @window(%x: tensor<1x8x2xf32>) {
  // expected-error @+2 {{the window does not fit along 'W': it spans 3, the padded input is 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x {pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x8x2xf32>) -> tensor<1x8x1xf32>
  relax.return
}

// -----

// With ceil_mode, a window may extend beyond the end, but by less than a
// stride.
relax.func @ceil_window(%x: tensor<1x8x1xf32>) {
  // expected-error @+2 {{the window does not fit along 'W': it spans 3, the padded input is 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x {ceil_mode = true, pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x8x1xf32>) -> tensor<1x8x1xf32>
  relax.return
}

// -----

relax.func @contradiction(%x: tensor<1x8x8xf32>) {
  // expected-error @+2 {{result #0 is declared as 'tensor<1x8x3xf32>', but 'tensor<1x8x4xf32>' is deduced}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.max_pool1d %x {pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x8x8xf32>) -> tensor<1x8x3xf32>
  relax.return
}

// -----

relax.func @output_size(%x: tensor<1x8x8x8xf32>) {
  // expected-error @+2 {{output_size must have 1 or 2 values, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.adaptive_avg_pool2d %x to [1, 1, 1] : (tensor<1x8x8x8xf32>) -> tensor<1x8x1x1xf32>
  relax.return
}

// -----

relax.func @unknown_output_size(%x: tensor<1x8x8x8xf32>) {
  // expected-error @+2 {{output_size must be known, got #relax.shape<[1, ?]>}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.adaptive_avg_pool2d %x to [1, ?] : (tensor<1x8x8x8xf32>) -> tensor<1x8x1x1xf32>
  relax.return
}

// -----

relax.func @empty(%x: tensor<1x8x0xf32>) {
  // expected-error @+2 {{data is empty along 'W', it cannot be pooled to 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.adaptive_avg_pool1d %x to [2] : (tensor<1x8x0xf32>) -> tensor<1x8x2xf32>
  relax.return
}
