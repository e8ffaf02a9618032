// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize | FileCheck %s

// The data is copied into a zero-filled tensor, so that windows read with
// affine maps.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 * 2 + d4)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-LABEL: func.func private @conv1d(
// CHECK-SAME: %[[A:.*]]: tensor<2x3x9xf32>, %[[B:.*]]: tensor<4x3x3xf32>, %[[OUT:.*]]: tensor<2x4x5xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x3x11xf32>
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[A]] into %[[ZEROS]][0, 0, 1] [2, 3, 9] [1, 1, 1]
// CHECK: %[[INIT:.*]] = linalg.fill {{.*}} outs(%[[OUT]]
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[PADDED]], %[[B]] {{.*}}) outs(%[[INIT]]
relax.func @main(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x5xf32> {
  %0 = relax.conv1d %x, %w {padding = array<i64: 1>, strides = array<i64: 2>} : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x5xf32>
  relax.return %0 : tensor<2x4x5xf32>
}

// -----

// Groups are a separate dimension; without padding, nothing is copied.
// CHECK-LABEL: func.func private @conv1d(
// CHECK-SAME: %[[A:.*]]: tensor<?x4x9xf32> {{.*}}, %[[B:.*]]: tensor<6x2x1xf32>, %[[OUT:.*]]: tensor<?x6x9xf32>
// CHECK-NOT: tensor.insert_slice
// CHECK: %[[INIT:.*]] = linalg.fill {{.*}} outs(%[[OUT]]
// CHECK: %[[DATA:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0], [1, 2], [3]] {{.*}} into tensor<?x2x2x9xf32>
// CHECK: %[[WEIGHT:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2], [3]] {{.*}} into tensor<2x3x2x1xf32>
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[INIT]] {{\[\[}}0], [1, 2], [3]] {{.*}} into tensor<?x2x3x9xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[DATA]], %[[WEIGHT]] {{.*}}) outs(%[[SPLIT]]
// CHECK: %[[WHOLE:.*]] = tensor.collapse_shape %[[SUMS]]
// CHECK: return %[[WHOLE]]
relax.func @main(%x: tensor<?x4x9xf32, #relax.shape<[n, 4, 9]>>, %w: tensor<6x2x1xf32>) -> tensor<?x6x9xf32, #relax.shape<[n, 6, 9]>> {
  %0 = relax.conv1d %x, %w {groups = 2 : i64} : (tensor<?x4x9xf32, #relax.shape<[n, 4, 9]>>, tensor<6x2x1xf32>) -> tensor<?x6x9xf32, #relax.shape<[n, 6, 9]>>
  relax.return %0 : tensor<?x6x9xf32, #relax.shape<[n, 6, 9]>>
}

// -----

// Undecided sizes are checked before the call.
// CHECK-LABEL: relax.func @main
// CHECK: relax.assert {{.*}} "conv1d: the window does not fit along 'W': 
// CHECK: relax.call_tir @conv1d
relax.func @main(%x: tensor<1x2x?xf32, #relax.shape<[1, 2, n]>>, %w: tensor<3x2x4xf32>) -> tensor<1x3x?xf32, #relax.shape<[1, 3, n - 3]>> {
  %0 = relax.conv1d %x, %w : (tensor<1x2x?xf32, #relax.shape<[1, 2, n]>>, tensor<3x2x4xf32>) -> tensor<1x3x?xf32, #relax.shape<[1, 3, n - 3]>>
  relax.return %0 : tensor<1x3x?xf32, #relax.shape<[1, 3, n - 3]>>
}
