// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of normalization, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @softmax_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'relax.softmax' op data must have float elements, got 'i32'}}
  %0 = relax.softmax %x : (tensor<4xi32>) -> tensor<4xi32>
  relax.return
}

// -----

relax.func @softmax_of_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'relax.softmax' op axis -1 is out of range for a tensor of rank 0}}
  %0 = relax.softmax %x : (tensor<f32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @gamma_size(%x: tensor<2x4xf32>, %g: tensor<2xf32>) {
  // expected-error@+1 {{'relax.layer_norm' op dimension 1 of data and dimension 0 of gamma differ: 4 and 2}}
  %0 = relax.layer_norm %x gamma %g axes [-1] : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @beta_rank(%x: tensor<2x4xf32>, %g: tensor<1x4xf32>) {
  // expected-error@+1 {{'relax.layer_norm' op beta must have rank 1, got rank 2}}
  %0 = relax.layer_norm %x beta %g axes [-1] : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @gamma_type(%x: tensor<2x4xf16>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'relax.layer_norm' op element types differ: data has 'f16', gamma has 'f32'}}
  %0 = relax.layer_norm %x gamma %g axes [-1] : (tensor<2x4xf16>, tensor<4xf32>) -> tensor<2x4xf16>
  relax.return
}

// -----

relax.func @axes_twice(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.layer_norm' op axes repeat 1}}
  %0 = relax.layer_norm %x axes [-1, 1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @negative_epsilon(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.layer_norm' op epsilon must be finite and not negative, got -1.000000e+00}}
  %0 = relax.layer_norm %x axes [-1] {epsilon = -1.0} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @weight_order(%x: tensor<2x4xf32>, %w: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.rms_norm' op dimension 1 of data and dimension 0 of weight differ: 4 and 2}}
  %0 = relax.rms_norm %x weight %w axes [1, 0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @no_groups(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.group_norm' op num_groups must be positive, got 0}}
  %0 = relax.group_norm %x num_groups 0 channel_axis 1 axes [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @groups_do_not_divide(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.group_norm' op num_groups must divide the number of channels: 3 and 4}}
  %0 = relax.group_norm %x num_groups 3 channel_axis 1 axes [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @channel_axis(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.group_norm' op channel_axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.group_norm %x num_groups 2 channel_axis 2 axes [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

// -1 is the channel axis.
relax.func @channels_among_axes(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.instance_norm' op axes must not name channel_axis 1}}
  %0 = relax.instance_norm %x channel_axis 1 axes [-1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @channels(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error@+1 {{'relax.batch_norm' op dimension 1 of data and dimension 0 of moving_mean differ: 4 and 5}}
  %0:3 = relax.batch_norm %x, %g, %g, %m, %g axis 1 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  relax.return
}

// -----

relax.func @channels_of_unranked(%x: tensor<*xf32>, %g: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error@+1 {{'relax.batch_norm' op the number of channels and dimension 0 of moving_var differ: 4 and 5}}
  %0:3 = relax.batch_norm %x, %g, %g, %g, %m axis 1 : (tensor<*xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<*xf32>, tensor<4xf32>, tensor<4xf32>)
  relax.return
}

// -----

relax.func @batch_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.batch_norm' op axis 1 is out of range for a tensor of rank 1}}
  %0:3 = relax.batch_norm %x, %x, %x, %x, %x axis 1 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  relax.return
}
