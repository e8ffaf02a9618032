// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -canonicalize | FileCheck %s

// Slices of whole dimensions are removed, even if the dimensions are unknown.
// CHECK-LABEL: relax.func @whole
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x8xf32, #relax.shape<[n, 8]>>, %[[U:[a-z0-9]+]]: tensor<?xf32>
relax.func @whole(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %u: tensor<?xf32>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?xf32>, tensor<?xf32>) {
  %0 = relax.strided_slice %x axes [0, 1] begin [0, 0] end [n, 9] : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.strided_slice %u axes [0] begin [0] end [9223372036854775807] strides [1] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: %[[C:[a-z0-9]+]] = relax.strided_slice
  %2 = relax.strided_slice %u axes [0] begin [0] end [8] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: relax.return %[[X]], %[[U]], %[[C]]
  relax.return %0, %1, %2 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?xf32>, tensor<?xf32>
}

// A reversal preserves the type, but is not the identity.
// CHECK-LABEL: relax.func @reversed
relax.func @reversed(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  // CHECK: relax.strided_slice
  %0 = relax.strided_slice %x axes [0] begin [-1] end [-9223372036854775807] strides [-1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// Constant positions make a dynamic slice static.
// CHECK-LABEL: relax.func @static
relax.func @static(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %d: tensor<2xi64>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x?xf32>) {
  %b = relax.constant dense<[0, 1]> : tensor<2xi32>
  %e = relax.constant dense<[9223372036854775807, -1]> : tensor<2xi64>
  %s = relax.constant dense<1> : tensor<2xi64>
  // CHECK: relax.strided_slice %{{.*}} axes [0, 1] begin [0, 1] end [9223372036854775807, -1] strides [1, 1] : {{.*}} -> tensor<?x2xf32, #relax.shape<[n, 2]>>
  %0 = relax.dynamic_strided_slice %x, %b, %e, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
  // CHECK: relax.dynamic_strided_slice
  %1 = relax.dynamic_strided_slice %x, %b, %d, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  relax.return %0, %1 : tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x?xf32>
}
