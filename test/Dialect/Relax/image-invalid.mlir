// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt --split-input-file --verify-diagnostics %s

relax.func @number_of_widths(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{'relax.pad' op pad_width must have 2 values for each axis, 4, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [1, 1, 1] : (tensor<4x4xf32>) -> tensor<6x5xf32>
  relax.return
}

// -----

relax.func @mode(%x: tensor<4xf32>) {
  // expected-error @+2 {{pad_mode must be one of 'constant', 'reflect', 'replicate', 'circular', got 'edge'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [1, 1] {pad_mode = "edge"} : (tensor<4xf32>) -> tensor<6xf32>
  relax.return
}

// -----

relax.func @value(%x: tensor<4xi32>) {
  // expected-error @+2 {{pad_value must be an integer for elements of type 'i32', got 1.000000e+00 : f64}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [1, 1] {pad_value = 1.0 : f64} : (tensor<4xi32>) -> tensor<6xi32>
  relax.return
}

// -----

relax.func @crop(%x: tensor<4xf32>) {
  // expected-error @+2 {{pad_width crops dimension 0 of size 4 to -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [-2, -3] : (tensor<4xf32>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @reflect(%x: tensor<4xf32>) {
  // expected-error @+2 {{padding with mode 'reflect' must be less than the size on dimension 0 of size 4, got 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [4, 0] {pad_mode = "reflect"} : (tensor<4xf32>) -> tensor<8xf32>
  relax.return
}

// -----

relax.func @circular(%x: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+2 {{padding with mode 'circular' must be at most the size on dimension 0 of size n, got n + 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [0, n + 1] {pad_mode = "circular"} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @replicate(%x: tensor<0xf32>) {
  // expected-error @+2 {{padding with mode 'replicate' must be 0 on dimension 0 of size 0, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [1, 0] {pad_mode = "replicate"} : (tensor<0xf32>) -> tensor<1xf32>
  relax.return
}

// -----

relax.func @negative_replicate(%x: tensor<4xf32>) {
  // expected-error @+2 {{padding with mode 'replicate' must be at least 0 on dimension 0 of size 4, got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pad %x by [-1, 0] {pad_mode = "replicate"} : (tensor<4xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @pad_undefined_symbol(%x: tensor<4xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.pad %x by [m, 0] : (tensor<4xf32>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @size_rank(%x: tensor<1x3x8x8xf32>, %s: !relax.shape<3>) {
  // expected-error @+2 {{size must have 2 dimensions, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.resize2d %x, %s : (tensor<1x3x8x8xf32>, !relax.shape<3>) -> tensor<1x3x?x?xf32>
  relax.return
}

// -----

relax.func @method(%x: tensor<1x3x8x8xf32>, %s: !relax.shape<2>) {
  // expected-error @+2 {{method must be one of 'nearest_neighbor', 'linear', 'cubic', got 'bilinear'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.resize2d %x, %s {method = "bilinear"} : (tensor<1x3x8x8xf32>, !relax.shape<2>) -> tensor<1x3x?x?xf32>
  relax.return
}

// -----

relax.func @roi(%x: tensor<1x3x8x8xf32>, %s: !relax.shape<2>) {
  // expected-error @+2 {{roi must have 4 values, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.resize2d %x, %s {roi = array<f64: 1.0>} : (tensor<1x3x8x8xf32>, !relax.shape<2>) -> tensor<1x3x?x?xf32>
  relax.return
}

// -----

relax.func @empty(%x: tensor<1x3x0x8xf32>, %s: !relax.shape<[4, 4]>) {
  // expected-error @+2 {{data is empty along 'H', it cannot be resized to 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.resize2d %x, %s : (tensor<1x3x0x8xf32>, !relax.shape<[4, 4]>) -> tensor<1x3x4x4xf32>
  relax.return
}

// -----

relax.func @channels(%x: tensor<1x6x8x8xf32>) {
  // expected-error @+2 {{the channels of data must be a multiple of upscale_factor squared, 4, got 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pixel_shuffle %x by 2 : (tensor<1x6x8x8xf32>) -> tensor<1x1x16x16xf32>
  relax.return
}

// -----

relax.func @factor(%x: tensor<1x6x8x8xf32>) {
  // expected-error @+2 {{upscale_factor must be at least 1, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pixel_shuffle %x by 0 : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  relax.return
}

// -----

relax.func @shuffle_rank(%x: tensor<6x8xf32>) {
  // expected-error @+2 {{data must have rank 3 or more, got rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pixel_shuffle %x by 2 : (tensor<6x8xf32>) -> tensor<6x8xf32>
  relax.return
}

// -----

relax.func @shuffle_overflow(%x: tensor<?x8x8xf32>) {
  // expected-error @+2 {{overflow}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.pixel_shuffle %x by 4611686018427387904 : (tensor<?x8x8xf32>) -> tensor<?x?x?xf32>
  relax.return
}
