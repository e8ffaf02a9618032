// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt --split-input-file --verify-diagnostics %s

relax.func @rank(%x: tensor<1x3x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{'relax.conv2d' op data must have rank 4, got rank 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w : (tensor<1x3x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @element_types(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf16>) {
  // expected-error @+2 {{element types differ: data has 'f32', weight has 'f16'; convert one with relax.astype}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf16>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @channels(%x: tensor<1x4x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{channels of data and groups times input channels of weight differ: 4 and 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @groups(%x: tensor<1x6x8x8xf32>, %w: tensor<7x3x3x3xf32>) {
  // expected-error @+2 {{groups must divide the output channels of weight: 7 is not a multiple of 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {groups = 2 : i64} : (tensor<1x6x8x8xf32>, tensor<7x3x3x3xf32>) -> tensor<1x7x6x6xf32>
  relax.return
}

// -----

relax.func @no_groups(%x: tensor<1x6x8x8xf32>, %w: tensor<7x3x3x3xf32>) {
  // expected-error @+2 {{groups must be at least 1, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {groups = 0 : i64} : (tensor<1x6x8x8xf32>, tensor<7x3x3x3xf32>) -> tensor<1x7x6x6xf32>
  relax.return
}

// -----

relax.func @layout(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{data_layout must have each letter of 'NCHW' once, got 'NCHH'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {data_layout = "NCHH"} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @strides(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{strides must be at least 1, got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {strides = array<i64: 2, -1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @number_of_strides(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{strides must have 1 or 2 values, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {strides = array<i64: 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @number_of_paddings(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{padding must have 1, 2 or 4 values, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {padding = array<i64: 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

relax.func @negative_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{padding must be at least 0, got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {padding = array<i64: -1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  relax.return
}

// -----

// The window is larger than the padded input.
relax.func @window(%x: tensor<1x3x8x2xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{the window does not fit along 'W': it spans 5, the padded input is 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv2d %x, %w {dilation = array<i64: 1, 2>, padding = array<i64: 1>} : (tensor<1x3x8x2xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x8x1xf32>
  relax.return
}

// -----

// A declared bound proves this for every size.
relax.func @bounded_window(%x: tensor<1x3x?xf32, #relax.shape<[1, 3, n]>>, %w: tensor<8x3x7xf32>) attributes {relax.symbols = {n = #relax.range<1, 6>}} {
  // expected-error @+2 {{the window does not fit along 'W': it spans 7, the padded input is n}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d %x, %w : (tensor<1x3x?xf32, #relax.shape<[1, 3, n]>>, tensor<8x3x7xf32>) -> tensor<1x8x?xf32>
  relax.return
}

// -----

relax.func @empty_kernel(%x: tensor<1x3x8xf32>, %w: tensor<8x3x0xf32>) {
  // expected-error @+2 {{the kernel is empty along 'W': 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d %x, %w : (tensor<1x3x8xf32>, tensor<8x3x0xf32>) -> tensor<1x8x?xf32>
  relax.return
}

// -----

// The size exceeds 64 bits.
relax.func @overflow(%x: tensor<1x3x8xf32>, %w: tensor<8x3x3xf32>) {
  // expected-error @+2 {{overflow}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d %x, %w {padding = array<i64: 9223372036854775807>} : (tensor<1x3x8xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  relax.return
}

// -----

relax.func @out_dtype(%x: tensor<1x3x8xf32>, %w: tensor<8x3x3xf32>) {
  // expected-error @+2 {{out_dtype must be a type of float or integer elements, got 'none'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d %x, %w {out_dtype = none} : (tensor<1x3x8xf32>, tensor<8x3x3xf32>) -> tensor<1x8x6xf32>
  relax.return
}

// -----

// The deduced extent is exact: a declared size that is not proved to equal it
// is an error.
relax.func @too_fine(%x: tensor<1x3x?xf32, #relax.shape<[1, 3, n]>>, %w: tensor<8x3x3xf32>) {
  // expected-error @+2 {{only 'tensor<1x8x?xf32, #relax.shape<[1, 8, n - 2]>>' can be deduced; assert more with relax.match_cast}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d %x, %w : (tensor<1x3x?xf32, #relax.shape<[1, 3, n]>>, tensor<8x3x3xf32>) -> tensor<1x8x6xf32>
  relax.return
}

// -----

relax.func @transposed_channels(%x: tensor<1x4x8xf32>, %w: tensor<3x8x3xf32>) {
  // expected-error @+2 {{channels of data and input channels of weight differ: 4 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d_transpose %x, %w : (tensor<1x4x8xf32>, tensor<3x8x3xf32>) -> tensor<1x8x10xf32>
  relax.return
}

// -----

relax.func @output_padding(%x: tensor<1x4x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @+2 {{output_padding must be less than the stride or the dilation, 2, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d_transpose %x, %w {output_padding = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x4x8xf32>, tensor<4x8x3xf32>) -> tensor<1x8x?xf32>
  relax.return
}

// -----

relax.func @cropped(%x: tensor<1x4x1xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @+2 {{padding removes more than there is along 'W': the result would have size -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.conv1d_transpose %x, %w {padding = array<i64: 2>} : (tensor<1x4x1xf32>, tensor<4x8x3xf32>) -> tensor<1x8x?xf32>
  relax.return
}
