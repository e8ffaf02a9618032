// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt --emit-bytecode %s | relax-opt | FileCheck %s
// RUN: relax-opt --mlir-print-op-generic %s | relax-opt | FileCheck %s

// A symbolic length with stride, padding and dilation has an exact extent.
// CHECK-LABEL: relax.func @conv1d
// CHECK: relax.conv1d {{.*}} {dilation = array<i64: 2>, padding = array<i64: 2, 1>, strides = array<i64: 3>} {{.*}} -> tensor<?x16x?xf32, #relax.shape<[b, 16, (n + 1) floordiv 3]>>
relax.func @conv1d(%x: tensor<?x8x?xf32, #relax.shape<[b, 8, n]>>, %w: tensor<16x8x3xf32>) -> tensor<?x16x?xf32, #relax.shape<[b, 16, (n + 1) floordiv 3]>> {
  %0 = relax.conv1d %x, %w {dilation = array<i64: 2>, padding = array<i64: 2, 1>, strides = array<i64: 3>} : (tensor<?x8x?xf32, #relax.shape<[b, 8, n]>>, tensor<16x8x3xf32>) -> tensor<?x16x?xf32, #relax.shape<[b, 16, (n + 1) floordiv 3]>>
  relax.return %0 : tensor<?x16x?xf32, #relax.shape<[b, 16, (n + 1) floordiv 3]>>
}

// Defaults are left out of the text; a chain of two convolutions of stride 2.
// CHECK-LABEL: relax.func @conv2d_chain
// CHECK: relax.conv2d %{{.*}}, %{{.*}} {padding = array<i64: 1>, strides = array<i64: 2>} :
// CHECK: relax.conv2d %{{.*}}, %{{.*}} {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} :
relax.func @conv2d_chain(%x: tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, %w: tensor<8x3x3x3xf32>, %v: tensor<4x8x3x3xf32>) -> tensor<1x4x?x?xf32, #relax.shape<[1, 4, (h + 3) floordiv 4, (w + 3) floordiv 4]>> {
  %0 = relax.conv2d %x, %w {data_layout = "NCHW", dilation = array<i64: 1>, groups = 1 : i64, kernel_layout = "OIHW", padding = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, tensor<8x3x3x3xf32>) -> tensor<1x8x?x?xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, (w + 1) floordiv 2]>>
  %1 = relax.conv2d %0, %v {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x?x?xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, (w + 1) floordiv 2]>>, tensor<4x8x3x3xf32>) -> tensor<1x4x?x?xf32, #relax.shape<[1, 4, (h + 3) floordiv 4, (w + 3) floordiv 4]>>
  relax.return %1 : tensor<1x4x?x?xf32, #relax.shape<[1, 4, (h + 3) floordiv 4, (w + 3) floordiv 4]>>
}

// Convolutions may have other layouts, four paddings (top, left, bottom, right), a depthwise kernel and another element
// type.
// CHECK-LABEL: relax.func @conv2d_layouts
// CHECK: out_dtype = i32, out_layout = "NCHW"
relax.func @conv2d_layouts(%x: tensor<2x?x9x8xi8, #relax.shape<[2, h, 9, 8]>>, %w: tensor<3x5x1x16xi8>) -> tensor<2x16x?x6xi32, #relax.shape<[2, 16, h + 2, 6]>> {
  %0 = relax.conv2d %x, %w {data_layout = "NHWC", groups = 8 : i64, kernel_layout = "HWIO", out_dtype = i32, out_layout = "NCHW", padding = array<i64: 1, 0, 3, 1>} : (tensor<2x?x9x8xi8, #relax.shape<[2, h, 9, 8]>>, tensor<3x5x1x16xi8>) -> tensor<2x16x?x6xi32, #relax.shape<[2, 16, h + 2, 6]>>
  relax.return %0 : tensor<2x16x?x6xi32, #relax.shape<[2, 16, h + 2, 6]>>
}

// A symbolic kernel gives a symbolic extent; three axes.
// CHECK-LABEL: relax.func @conv3d
// CHECK: #relax.shape<[1, 2, d - k + 1, 7, 7]>
relax.func @conv3d(%x: tensor<1x2x?x8x8xf32, #relax.shape<[1, 2, d, 8, 8]>>, %w: tensor<2x2x?x2x2xf32, #relax.shape<[2, 2, k, 2, 2]>>) -> tensor<1x2x?x7x7xf32, #relax.shape<[1, 2, d - k + 1, 7, 7]>> {
  %0 = relax.conv3d %x, %w : (tensor<1x2x?x8x8xf32, #relax.shape<[1, 2, d, 8, 8]>>, tensor<2x2x?x2x2xf32, #relax.shape<[2, 2, k, 2, 2]>>) -> tensor<1x2x?x7x7xf32, #relax.shape<[1, 2, d - k + 1, 7, 7]>>
  relax.return %0 : tensor<1x2x?x7x7xf32, #relax.shape<[1, 2, d - k + 1, 7, 7]>>
}

// Unknown dimensions of an operand are unknown in the result, except for the rank and the channels.
// CHECK-LABEL: relax.func @conv2d_unranked
relax.func @conv2d_unranked(%x: tensor<*xf32>, %y: tensor<?x?x?x8xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<*xf32>) {
  // CHECK: (tensor<*xf32>, tensor<16x3x3x3xf32>) -> tensor<?x16x?x?xf32>
  %0 = relax.conv2d %x, %w : (tensor<*xf32>, tensor<16x3x3x3xf32>) -> tensor<?x16x?x?xf32>
  // CHECK: (tensor<?x?x?x8xf32>, tensor<16x3x3x3xf32>) -> tensor<?x16x?x6xf32>
  %1 = relax.conv2d %y, %w : (tensor<?x?x?x8xf32>, tensor<16x3x3x3xf32>) -> tensor<?x16x?x6xf32>
  // CHECK: (tensor<*xf32>, tensor<*xf32>) -> tensor<?x?x?x?xf32>
  %2 = relax.conv2d %x, %v : (tensor<*xf32>, tensor<*xf32>) -> tensor<?x?x?x?xf32>
  relax.return
}

// Symbolic channels match because of the number of groups; an empty batch is
// legal.
// CHECK-LABEL: relax.func @conv1d_groups
relax.func @conv1d_groups(%x: tensor<0x?x8xf32, #relax.shape<[0, 4*c, 8]>>, %w: tensor<8x?x8xf32, #relax.shape<[8, c, 8]>>) -> tensor<0x8x1xf32> {
  %0 = relax.conv1d %x, %w {groups = 4 : i64} : (tensor<0x?x8xf32, #relax.shape<[0, 4*c, 8]>>, tensor<8x?x8xf32, #relax.shape<[8, c, 8]>>) -> tensor<0x8x1xf32>
  relax.return %0 : tensor<0x8x1xf32>
}

// A transposed convolution restores the extent that a strided convolution
// reduced.
// CHECK-LABEL: relax.func @conv_transpose
relax.func @conv_transpose(%x: tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, %y: tensor<1x8x?x5xf32, #relax.shape<[1, 8, h, 5]>>, %z: tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>, %w: tensor<8x4x2xf32>, %v: tensor<8x2x3x3xf32>, %u: tensor<8x4x3x3x3xf32>) {
  // CHECK: relax.conv1d_transpose {{.*}} -> tensor<1x4x?xf32, #relax.shape<[1, 4, 2*n]>>
  %0 = relax.conv1d_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, tensor<8x4x2xf32>) -> tensor<1x4x?xf32, #relax.shape<[1, 4, 2*n]>>
  // CHECK: relax.conv2d_transpose {{.*}} -> tensor<1x8x?x10xf32, #relax.shape<[1, 8, 2*h, 10]>>
  %1 = relax.conv2d_transpose %y, %v {groups = 4 : i64, output_padding = array<i64: 1>, padding = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x?x5xf32, #relax.shape<[1, 8, h, 5]>>, tensor<8x2x3x3xf32>) -> tensor<1x8x?x10xf32, #relax.shape<[1, 8, 2*h, 10]>>
  // CHECK: relax.conv3d_transpose {{.*}} -> tensor<1x4x?x8x8xf32, #relax.shape<[1, 4, d + 4, 8, 8]>>
  %2 = relax.conv3d_transpose %z, %u {dilation = array<i64: 2>} : (tensor<1x8x?x4x4xf32, #relax.shape<[1, 8, d, 4, 4]>>, tensor<8x4x3x3x3xf32>) -> tensor<1x4x?x8x8xf32, #relax.shape<[1, 4, d + 4, 8, 8]>>
  relax.return
}
