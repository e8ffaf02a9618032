// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt --split-input-file --verify-diagnostics %s

relax.func @axis(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{'relax.quantize' op axis 2 is out of range for a tensor of rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.quantize %x, %s {axis = 2 : i64} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi8>
  relax.return
}

// -----

relax.func @size(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+2 {{dimension 1 of data and size of scale differ: 8 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.quantize %x, %s : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xi8>
  relax.return
}

// -----

relax.func @parameter_rank(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<1x8xi8>) {
  // expected-error @+2 {{zero_point must have rank 0 or 1, got rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.quantize %x, %s, %z : (tensor<4x8xf32>, tensor<f32>, tensor<1x8xi8>) -> tensor<4x8xi8>
  relax.return
}

// -----

relax.func @scalar(%x: tensor<f32>, %s: tensor<1xf32>) {
  // expected-error @+2 {{scale must be a scalar like data, got 'tensor<1xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.quantize %x, %s : (tensor<f32>, tensor<1xf32>) -> tensor<i8>
  relax.return
}

// -----

relax.func @out_dtype(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{the result must have integers or floats of at most 8 bits, got 'f32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.quantize %x, %s {out_dtype = f32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @data(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{data must have integers or floats of at most 8 bits, got 'f32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.dequantize %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @float_out_dtype(%x: tensor<4xi8>, %s: tensor<f32>) {
  // expected-error @+2 {{out_dtype must be a floating-point type, got 'i8'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.dequantize %x, %s {out_dtype = i8} : (tensor<4xi8>, tensor<f32>) -> tensor<4xi8>
  relax.return
}
