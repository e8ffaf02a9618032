// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt --emit-bytecode %s | relax-opt | FileCheck %s
// RUN: relax-opt --mlir-print-op-generic %s | relax-opt | FileCheck %s

// Padding keeps the size; ceil_mode rounds up, but the last window starts inside.
// CHECK-LABEL: relax.func @max_pool
relax.func @max_pool(%x: tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, %y: tensor<1x8x?x7xf32, #relax.shape<[1, 8, h, 7]>>, %z: tensor<1x8x?x4x4xi32, #relax.shape<[1, 8, d, 4, 4]>>) {
  // CHECK: relax.max_pool1d %{{.*}} {pool_size = array<i64: 2>, strides = array<i64: 2>} {{.*}} -> tensor<1x8x?xf32, #relax.shape<[1, 8, n floordiv 2]>>
  %0 = relax.max_pool1d %x {pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, n floordiv 2]>>
  // CHECK: relax.max_pool2d %{{.*}} {ceil_mode = true, {{.*}} -> tensor<1x8x?x4xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, 4]>>
  %1 = relax.max_pool2d %y {ceil_mode = true, pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x8x?x7xf32, #relax.shape<[1, 8, h, 7]>>) -> tensor<1x8x?x4xf32, #relax.shape<[1, 8, (h + 1) floordiv 2, 4]>>
  // CHECK: relax.max_pool3d {{.*}} -> tensor<1x8x?x4x4xi32, #relax.shape<[1, 8, d, 4, 4]>>
  %2 = relax.max_pool3d %z {padding = array<i64: 1>, pool_size = array<i64: 3>} : (tensor<1x8x?x4x4xi32, #relax.shape<[1, 8, d, 4, 4]>>) -> tensor<1x8x?x4x4xi32, #relax.shape<[1, 8, d, 4, 4]>>
  relax.return
}

// The sizes with ceil_mode are the same as in PyTorch.
// CHECK-LABEL: relax.func @ceil_mode
relax.func @ceil_mode(%two: tensor<1x1x2xf32>, %five: tensor<1x1x5xf32>, %six: tensor<1x1x6xf32>) {
  // A window may be larger than the input.
  // CHECK: -> tensor<1x1x1xf32>
  %0 = relax.max_pool1d %two {ceil_mode = true, pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  // (5 + 2 - 2) ceildiv 3 + 1 = 3, but the third window would start at 6, in the trailing padding.
  // CHECK: -> tensor<1x1x2xf32>
  %1 = relax.max_pool1d %five {ceil_mode = true, padding = array<i64: 1>, pool_size = array<i64: 2>, strides = array<i64: 3>} : (tensor<1x1x5xf32>) -> tensor<1x1x2xf32>
  // CHECK: -> tensor<1x1x3xf32>
  %2 = relax.max_pool1d %six {ceil_mode = true, pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x1x6xf32>) -> tensor<1x1x3xf32>
  // The stride skips past the end.
  // CHECK: -> tensor<1x1x2xf32>
  %3 = relax.max_pool1d %six {ceil_mode = true, pool_size = array<i64: 1>, strides = array<i64: 4>} : (tensor<1x1x6xf32>) -> tensor<1x1x2xf32>
  relax.return
}

// CHECK-LABEL: relax.func @avg_pool
relax.func @avg_pool(%x: tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, %y: tensor<1x?x7x8xf32, #relax.shape<[1, h, 7, 8]>>, %z: tensor<*xf32>) {
  // CHECK: relax.avg_pool1d %{{.*}} {count_include_pad = true, padding = array<i64: 0, 2>, pool_size = array<i64: 3>}
  %0 = relax.avg_pool1d %x {count_include_pad = true, padding = array<i64: 0, 2>, pool_size = array<i64: 3>} : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>
  // CHECK: relax.avg_pool2d %{{.*}} {layout = "NHWC", out_layout = "NCHW", pool_size = array<i64: 2, 1>, strides = array<i64: 2, 1>}
  %1 = relax.avg_pool2d %y {layout = "NHWC", out_layout = "NCHW", pool_size = array<i64: 2, 1>, strides = array<i64: 2, 1>} : (tensor<1x?x7x8xf32, #relax.shape<[1, h, 7, 8]>>) -> tensor<1x8x?x7xf32, #relax.shape<[1, 8, h floordiv 2, 7]>>
  // CHECK: relax.avg_pool3d {{.*}} -> tensor<?x?x?x?x?xf32>
  %2 = relax.avg_pool3d %z {dilation = array<i64: 2>, pool_size = array<i64: 2>} : (tensor<*xf32>) -> tensor<?x?x?x?x?xf32>
  relax.return
}

// CHECK-LABEL: relax.func @adaptive
relax.func @adaptive(%x: tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>, %y: tensor<?x?x?x8xf32, #relax.shape<[b, h, w, 8]>>, %z: tensor<*xf32>, %s: !relax.shape<[m]>) {
  // CHECK: relax.adaptive_avg_pool1d %{{.*}} to [m] : {{.*}} -> tensor<1x8x?xf32, #relax.shape<[1, 8, m]>>
  %0 = relax.adaptive_avg_pool1d %x to [m] : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, m]>>
  // CHECK: relax.adaptive_avg_pool1d %{{.*}} : {{.*}} -> tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>
  %1 = relax.adaptive_avg_pool1d %x : (tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>) -> tensor<1x8x?xf32, #relax.shape<[1, 8, n]>>
  // CHECK: relax.adaptive_avg_pool2d %{{.*}} to [1, m + 1] {layout = "NHWC", out_layout = "NCHW"}
  %2 = relax.adaptive_avg_pool2d %y to [1, m + 1] {layout = "NHWC", out_layout = "NCHW"} : (tensor<?x?x?x8xf32, #relax.shape<[b, h, w, 8]>>) -> tensor<?x8x1x?xf32, #relax.shape<[b, 8, 1, m + 1]>>
  // CHECK: relax.adaptive_avg_pool3d %{{.*}} to [7] : (tensor<*xf32>) -> tensor<?x?x7x7x7xf32>
  %3 = relax.adaptive_avg_pool3d %z to [7] : (tensor<*xf32>) -> tensor<?x?x7x7x7xf32>
  relax.return
}
