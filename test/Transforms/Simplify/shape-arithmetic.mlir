// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Importers compute shapes on tensors of i64; the expressions are recovered
// from these.
// RUN: relax-opt %s -split-input-file -relax-simplify | FileCheck %s

// Gather, slice, concatenate, reshape.
// CHECK-LABEL: relax.func @gather_and_concat
// CHECK:         relax.reshape %{{.*}} to [n, 12*m]
relax.func @gather_and_concat(%x: tensor<?x?x12xf32, #relax.shape<[n, m, 12]>>) -> tensor<?x?xf32> {
  %s = relax.shape_of %x : (tensor<?x?x12xf32, #relax.shape<[n, m, 12]>>) -> !relax.shape<[n, m, 12]>
  %t = relax.shape_to_tensor %s : (!relax.shape<[n, m, 12]>) -> tensor<3xi64>
  %zero = relax.constant dense<0> : tensor<i64>
  %0 = relax.take %t, %zero axis 0 : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %1 = relax.expand_dims %0 axis [0] : (tensor<i64>) -> tensor<1xi64>
  %2 = relax.strided_slice %t axes [0] begin [1] end [9223372036854775807] : (tensor<3xi64>) -> tensor<2xi64>
  %3 = relax.prod %2 {axes = array<i64: 0>, keepdims} : (tensor<2xi64>) -> tensor<1xi64>
  %4 = relax.concat %1, %3 axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %5 = relax.tensor_to_shape %4 : (tensor<2xi64>) -> !relax.shape<2>
  %6 = relax.reshape %x, %5 : (tensor<?x?x12xf32, #relax.shape<[n, m, 12]>>, !relax.shape<2>) -> tensor<?x?xf32>
  relax.return %6 : tensor<?x?xf32>
}

// -----

// The same with static shapes.
// CHECK-LABEL: relax.func @static_slice
// CHECK:         relax.reshape %{{.*}} to [3, 4] : (tensor<12xf32>) -> tensor<3x4xf32>
relax.func @static_slice(%x: tensor<2x3x4xf32>, %data: tensor<12xf32>) -> tensor<?x?xf32> {
  %s = relax.shape_of %x : (tensor<2x3x4xf32>) -> !relax.shape<[2, 3, 4]>
  %t = relax.shape_to_tensor %s : (!relax.shape<[2, 3, 4]>) -> tensor<3xi64>
  %1 = relax.strided_slice %t axes [0] begin [1] end [3] : (tensor<3xi64>) -> tensor<2xi64>
  %2 = relax.tensor_to_shape %1 : (tensor<2xi64>) -> !relax.shape<2>
  %3 = relax.reshape %data, %2 : (tensor<12xf32>, !relax.shape<2>) -> tensor<?x?xf32>
  relax.return %3 : tensor<?x?xf32>
}

// -----

// Arithmetic, with a single element repeated.
// CHECK-LABEL: relax.func @arithmetic
// CHECK:         relax.shape [2*n, 2*m + 2]
relax.func @arithmetic(%p: !relax.shape<[m]>, %s: !relax.shape<[n, m + 1]>) -> !relax.shape<2> {
  %t = relax.shape_to_tensor %s : (!relax.shape<[n, m + 1]>) -> tensor<2xi64>
  %two = relax.constant dense<2> : tensor<1xi64>
  %0 = relax.multiply %t, %two : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi64>
  %1 = relax.tensor_to_shape %0 : (tensor<2xi64>) -> !relax.shape<2>
  relax.return %1 : !relax.shape<2>
}

// -----

// Data-dependent shapes stay.
// CHECK-LABEL: relax.func @from_data
// CHECK:         relax.tensor_to_shape
relax.func @from_data(%s: !relax.shape<[n]>, %d: tensor<1xi64>) -> !relax.shape<2> {
  %t = relax.shape_to_tensor %s : (!relax.shape<[n]>) -> tensor<1xi64>
  %0 = relax.concat %t, %d axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %1 = relax.tensor_to_shape %0 : (tensor<2xi64>) -> !relax.shape<2>
  relax.return %1 : !relax.shape<2>
}
