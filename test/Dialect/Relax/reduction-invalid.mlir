// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of reductions and scans, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @axis_too_large(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'relax.sum' op axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.sum %x axis [2] : (tensor<2x3xf32>) -> tensor<2xf32>
  relax.return
}

// -----

relax.func @axis_too_small(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'relax.sum' op axis -9223372036854775808 is out of range for a tensor of rank 2}}
  %0 = relax.sum %x axis [-9223372036854775808] : (tensor<2x3xf32>) -> tensor<2xf32>
  relax.return
}

// -----

// -1 is axis 1.
relax.func @axis_twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'relax.mean' op axis repeat -1}}
  %0 = relax.mean %x axis [1, -1] : (tensor<2x3xf32>) -> tensor<2xf32>
  relax.return
}

// -----

relax.func @axis_of_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'relax.sum' op axis 0 is out of range for a tensor of rank 0}}
  %0 = relax.sum %x axis [0] : (tensor<f32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @sum_of_booleans(%x: tensor<2xi1>) {
  // expected-error@+1 {{'relax.sum' op x must have float elements or integers of two or more bits, got 'i1'; convert it with relax.astype}}
  %0 = relax.sum %x : (tensor<2xi1>) -> tensor<i1>
  relax.return
}

// -----

relax.func @mean_of_integers(%x: tensor<2xi32>) {
  // expected-error@+1 {{'relax.mean' op x must have float elements, got 'i32'}}
  %0 = relax.mean %x : (tensor<2xi32>) -> tensor<i32>
  relax.return
}

// -----

relax.func @any_of_floats(%x: tensor<2xf32>) {
  // expected-error@+1 {{'relax.any' op x must have Boolean elements (i1), got 'f32'}}
  %0 = relax.any %x : (tensor<2xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @max_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{'relax.max' op dimension 1 of x is 0, but a reduction without an identity needs at least 1 element}}
  %0 = relax.max %x axis [1] : (tensor<4x0xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @argmin_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{'relax.argmin' op dimension 1 of x is 0, but a reduction without an identity needs at least 1 element}}
  %0 = relax.argmin %x : (tensor<4x0xf32>) -> tensor<i64>
  relax.return
}

// -----

relax.func @kept_dimension(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error@+1 {{'relax.sum' op result #0 is declared as 'tensor<?xf32, #relax.shape<[n]>>', but 'tensor<?x1xf32, #relax.shape<[n, 1]>>' is deduced}}
  %0 = relax.sum %x axis [1] keepdims : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

relax.func @index_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.argmax' op result #0 is declared as 'tensor<i32>', but 'tensor<i64>' is deduced}}
  %0 = relax.argmax %x : (tensor<4xf32>) -> tensor<i32>
  relax.return
}

// -----

relax.func @unranked_rank(%x: tensor<*xf32>) {
  // expected-error@+1 {{'relax.sum' op result #0 is declared as 'tensor<f32>', but only 'tensor<*xf32>' can be deduced}}
  %0 = relax.sum %x axis [0] : (tensor<*xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @scan_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.cumsum' op axis 1 is out of range for a tensor of rank 1}}
  %0 = relax.cumsum %x axis 1 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @scan_of_booleans(%x: tensor<4xi1>) {
  // expected-error@+1 {{'relax.cumsum' op data must have float elements or integers of two or more bits, got 'i1'}}
  %0 = relax.cumsum %x axis 0 : (tensor<4xi1>) -> tensor<4xi1>
  relax.return
}

// -----

relax.func @scan_to_booleans(%x: tensor<4xi8>) {
  // expected-error@+1 {{'relax.cumprod' op dtype must be a type of float elements or integers of two or more bits, got 'i1'}}
  %0 = relax.cumprod %x axis 0 {dtype = i1} : (tensor<4xi8>) -> tensor<4xi1>
  relax.return
}

// -----

// 2^62 * 4 elements.
relax.func @flattened_size(%x: tensor<4611686018427387904x4xi8>) {
  // expected-error@+1 {{'relax.cumsum' op symbolic expression overflows 64 bits}}
  %0 = relax.cumsum %x : (tensor<4611686018427387904x4xi8>) -> tensor<?xi8>
  relax.return
}
