// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize | FileCheck %s

// Ops that only change the shape become reshapes to known dimensions.
// CHECK-LABEL: relax.func @views
// CHECK: relax.reshape %arg0 to [4*n]
// CHECK: relax.reshape %arg0 to [1, n, 4]
// CHECK: relax.reshape %arg0 to [2, 2*n]
// CHECK-NOT: func.func
relax.func @views(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?xf32>, tensor<1x?x4xf32>, tensor<2x?xf32>) {
  %0 = relax.flatten %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  %1 = relax.expand_dims %x axis [0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<1x?x4xf32, #relax.shape<[1, n, 4]>>
  %2 = relax.reshape %x to [2, -1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<2x?xf32, #relax.shape<[2, 2*n]>>
  relax.return %0, %1, %2 : tensor<?xf32, #relax.shape<[4*n]>>, tensor<1x?x4xf32, #relax.shape<[1, n, 4]>>, tensor<2x?xf32, #relax.shape<[2, 2*n]>>
}

// -----

// A permutation of dimensions is an indexing map; parts are copied as slices into the destination.
// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func private @permute_dims(
// CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]],
// CHECK-LABEL: func.func private @concat(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x?xf32> {{{.*}}}, %[[Y:[a-z0-9]*]]: tensor<4x2xf32>, %[[OUT:[a-z0-9]*]]:
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[X]] into %[[OUT]][0, 0]
// CHECK: tensor.insert_slice %[[Y]] into %[[FIRST]]
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4x2xf32>) -> tensor<4x?xf32, #relax.shape<[4, n + 2]>> {
  %0 = relax.permute_dims %x axes [1, 0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<4x?xf32, #relax.shape<[4, n]>>
  %1 = relax.concat %0, %y axis 1 : (tensor<4x?xf32, #relax.shape<[4, n]>>, tensor<4x2xf32>) -> tensor<4x?xf32, #relax.shape<[4, n + 2]>>
  relax.return %1 : tensor<4x?xf32, #relax.shape<[4, n + 2]>>
}

// -----

// Indices are clamped to the tensor, which must not be empty.
// CHECK-LABEL: relax.func @rows
// CHECK: relax.assert %{{.*}}, "take: cannot index a dimension without elements: 
// CHECK-LABEL: func.func private @take(
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.extract
relax.func @rows(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>> {
  %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[m, 4]>>
}

// -----

// The nearest element is computed with integers: float division may be inexact on a GPU, which would resolve ties
// between two elements wrongly.
// CHECK-LABEL: func.func private @resize2d(
// CHECK-NOT: arith.divf
// CHECK: arith.floordivsi
// CHECK-NOT: arith.divf
// CHECK: tensor.extract
relax.func @nearest(%x: tensor<1x2x?x5xf32, #relax.shape<[1, 2, h, 5]>>, %size: !relax.shape<[a, 3]>) -> tensor<1x2x?x3xf32, #relax.shape<[1, 2, a, 3]>> {
  %0 = relax.resize2d %x, %size {method = "nearest_neighbor"} : (tensor<1x2x?x5xf32, #relax.shape<[1, 2, h, 5]>>, !relax.shape<[a, 3]>) -> tensor<1x2x?x3xf32, #relax.shape<[1, 2, a, 3]>>
  relax.return %0 : tensor<1x2x?x3xf32, #relax.shape<[1, 2, a, 3]>>
}
