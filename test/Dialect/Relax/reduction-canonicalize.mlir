// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folds of reductions.
// RUN: relax-opt %s -canonicalize -split-input-file | FileCheck %s

// A reduction over no axes reduces single elements: sum, product, mean, maximum and minimum are the identity.
// CHECK-LABEL: relax.func @no_axes
// CHECK-NEXT: relax.return %arg0, %arg0, %arg0, %arg0, %arg0
relax.func @no_axes(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.sum %x axis [] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.prod %x axis [] keepdims : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.mean %x axis [] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.max %x axis [] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %4 = relax.min %x axis [] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0, %1, %2, %3, %4 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>
}

// -----

// Reducing all axes of a scalar reduces no axes.
// CHECK-LABEL: relax.func @scalar
// CHECK-NEXT: relax.return %arg0, %arg1
relax.func @scalar(%x: tensor<f32>, %b: tensor<i1>) -> (tensor<f32>, tensor<i1>) {
  %0 = relax.max %x : (tensor<f32>) -> tensor<f32>
  %1 = relax.all %b : (tensor<i1>) -> tensor<i1>
  relax.return %0, %1 : tensor<f32>, tensor<i1>
}

// -----

// Some reductions are not the identity: a variance over no axes is 0 (or NaN), a sum over axes changes values even if
// the types are equal, and a result may have a coarser type.
// CHECK-LABEL: relax.func @no_identities
// CHECK: %[[VAR:.*]] = relax.variance
// CHECK: %[[SUM:.*]] = relax.sum
// CHECK: %[[ALL:.*]] = relax.sum
// CHECK: %[[COARSE:.*]] = relax.sum
// CHECK: relax.return %[[VAR]], %[[SUM]], %[[ALL]], %[[COARSE]]
relax.func @no_identities(%x: tensor<?xf32>, %u: tensor<*xf32>, %y: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<*xf32>, tensor<?xf32>) {
  %0 = relax.variance %x axis [] : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relax.sum %x axis [0] keepdims : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relax.sum %u keepdims : (tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.sum %y axis [] : (tensor<4xf32>) -> tensor<?xf32>
  relax.return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<*xf32>, tensor<?xf32>
}
