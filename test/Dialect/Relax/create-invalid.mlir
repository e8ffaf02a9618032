// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of ops that create tensors, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @fill_of_rank_1(%s: !relax.shape<[4]>, %f: tensor<1xf32>) {
  // expected-error@+1 {{'relax.full' op fill_value must have rank 0, got rank 1}}
  %0 = relax.full %s, %f : (!relax.shape<[4]>, tensor<1xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @other_shape(%s: !relax.shape<[4]>) {
  // expected-error@+1 {{'relax.zeros' op result #0 is declared as 'tensor<5xf32>', but 'tensor<4xf32>' is deduced}}
  %0 = relax.zeros %s {dtype = f32} : (!relax.shape<[4]>) -> tensor<5xf32>
  relax.return
}

// -----

relax.func @unknown_shape(%s: !relax.shape<1>) {
  // expected-error@+1 {{'relax.ones' op result #0 is declared as 'tensor<5xf32>', but only 'tensor<?xf32>' can be deduced}}
  %0 = relax.ones %s {dtype = f32} : (!relax.shape<1>) -> tensor<5xf32>
  relax.return
}

// -----

relax.func @no_dtype(%s: !relax.shape<[4]>) {
  // expected-error@+1 {{'relax.ones' op dtype must be a type of float or integer elements, got 'index'}}
  %0 = relax.ones %s {dtype = index} : (!relax.shape<[4]>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @zero_step() {
  // expected-error@+1 {{'relax.arange' op step must not be 0}}
  %0 = relax.arange 0, 4, 0 {dtype = i64} : tensor<?xi64>
  relax.return
}

// -----

// 10 / 3 is rounded up.
relax.func @arange_size() {
  // expected-error@+1 {{'relax.arange' op result #0 is declared as 'tensor<3xi64>', but 'tensor<4xi64>' is deduced}}
  %0 = relax.arange 0, 10, 3 {dtype = i64} : tensor<3xi64>
  relax.return
}

// -----

// n - m may be negative.
relax.func @arange_difference(%n: tensor<?xf32, #relax.shape<[n]>>, %m: tensor<?xf32, #relax.shape<[m]>>) {
  // expected-error@+1 {{'relax.arange' op result #0 is declared as 'tensor<?xi64, #relax.shape<[n - m]>>', but only 'tensor<?xi64, #relax.shape<[max(n - m, 0)]>>' can be deduced}}
  %0 = relax.arange m, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n - m]>>
  relax.return
}

// -----

// The step may be 0, for which the size is undefined.
relax.func @arange_step(%n: tensor<?xf32, #relax.shape<[n]>>, %m: tensor<?xf32, #relax.shape<[m]>>) {
  // expected-error@+1 {{'relax.arange' op result #0 is declared as 'tensor<?xi64, #relax.shape<[n ceildiv m]>>', but only 'tensor<?xi64>' can be deduced}}
  %0 = relax.arange 0, n, m {dtype = i64} : tensor<?xi64, #relax.shape<[n ceildiv m]>>
  relax.return
}

// -----

relax.func @arange_of_negative_symbol(%k: index {relax.symbol = "k"}) attributes {relax.symbols = {k = #relax.range<-8, 8>}} {
  // expected-error@+1 {{'relax.arange' op result #0 is declared as 'tensor<?xi64, #relax.shape<[k]>>', but only 'tensor<?xi64, #relax.shape<[max(k, 0)]>>' can be deduced}}
  %0 = relax.arange 0, k, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[k]>>
  relax.return
}

// -----

relax.func @arange_overflow() {
  // expected-error@+1 {{'relax.arange' op symbolic expression overflows 64 bits}}
  %0 = relax.arange -9223372036854775807, 9223372036854775807, 1 {dtype = i64} : tensor<?xi64>
  relax.return
}

// -----

relax.func @undefined_symbol() {
  // expected-error@+1 {{'relax.arange' op uses symbol 'n', which is not defined here}}
  %0 = relax.arange 0, n, 1 {dtype = i64} : tensor<?xi64>
  relax.return
}

// -----

relax.func @negative_size() {
  // expected-error@+1 {{'relax.eye' op m must not be negative, got -1}}
  %0 = relax.eye 4, -1 {dtype = f32} : tensor<4x?xf32>
  relax.return
}

// -----

relax.func @triangle_of_vector(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.tril' op x must have rank 2 or more, got rank 1}}
  %0 = relax.tril %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @indexing(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.meshgrid' op indexing must be "ij" or "xy", got "yx"}}
  %0 = relax.meshgrid %x {indexing = "yx"} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @grid_of_matrices(%x: tensor<4xf32>, %y: tensor<4x4xf32>) {
  // expected-error@+1 {{'relax.meshgrid' op tensor 1 must have rank 0 or 1, got rank 2}}
  %0:2 = relax.meshgrid %x, %y : (tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  relax.return
}

// -----

relax.func @grid_results(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.meshgrid' op has 2 results, expected 1}}
  %0:2 = relax.meshgrid %x : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relax.return
}
