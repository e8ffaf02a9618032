// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @sort
relax.func @sort(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %z: tensor<0xi8>, %u: tensor<*xf32>) {
  // CHECK: relax.sort %{{.*}} axis 0 descending :
  %0 = relax.sort %x axis 0 descending : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.sort %z : (tensor<0xi8>) -> tensor<0xi8>
  %2 = relax.sort %u axis 7 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.argsort %{{.*}} : {{.*}} -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %3 = relax.argsort %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.argsort %{{.*}} axis 0 descending {dtype = i64} :
  %4 = relax.argsort %x axis 0 descending {dtype = i64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
  %5 = relax.argsort %u : (tensor<*xf32>) -> tensor<*xi32>
  relax.return
}

// k is an expression; if it may exceed the dimension, this is checked at run time.
// CHECK-LABEL: relax.func @topk
relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %p: tensor<?xf32>, %m: tensor<?xf32, #relax.shape<[m]>>, %u: tensor<*xf32>) {
  // CHECK: relax.topk %{{.*}} k 2 :
  %0:2 = relax.topk %x k 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>)
  // CHECK: relax.topk %{{.*}} k m axis 0 {largest = false, ret_type = "values"} : {{.*}} -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %1 = relax.topk %x k m axis 0 {ret_type = "values", largest = false} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %2 = relax.topk %x k 4 {ret_type = "indices", dtype = i64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi64, #relax.shape<[n, 4]>>
  %3:2 = relax.topk %p k 0 : (tensor<?xf32>) -> (tensor<0xf32>, tensor<0xi32>)
  %4:2 = relax.topk %u k 3 : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  relax.return
}

// The number of distinct or nonzero elements depends on the data.
// CHECK-LABEL: relax.func @data_dependent
relax.func @data_dependent(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>, %b: tensor<?x?x2xi1>) -> tensor<?xf32> {
  // CHECK: relax.unique %{{.*}} : {{.*}} -> tensor<?xf32>
  %0 = relax.unique %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32>
  %1 = relax.match_cast %0 : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  %2 = relax.exp %1 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  // CHECK: relax.unique %{{.*}} axis 0 return_index return_inverse return_counts {sorted = false} :
  %3:4 = relax.unique %x axis 0 return_index return_inverse return_counts {sorted = false} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x4xf32>, tensor<?xi64>, tensor<?xi64, #relax.shape<[n]>>, tensor<?xi64>)
  // CHECK: relax.unique %{{.*}} return_inverse : {{.*}} -> (tensor<?xf32>, tensor<?xi64, #relax.shape<[4*n]>>)
  %4:2 = relax.unique %x return_inverse : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?xf32>, tensor<?xi64, #relax.shape<[4*n]>>)
  %5:2 = relax.unique %u axis -1 return_counts : (tensor<*xf32>) -> (tensor<*xf32>, tensor<?xi64>)
  // CHECK: relax.nonzero %{{.*}} : {{.*}} -> tensor<3x?xi64>
  %6 = relax.nonzero %b : (tensor<?x?x2xi1>) -> tensor<3x?xi64>
  %7 = relax.nonzero %u : (tensor<*xf32>) -> tensor<?x?xi64>
  relax.return %0 : tensor<?xf32>
}

// CHECK-LABEL: relax.func @bucketize
relax.func @bucketize(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %b: tensor<?xf32, #relax.shape<[m]>>, %u: tensor<*xf32>) {
  // CHECK: relax.bucketize %{{.*}} {out_int32, right} : {{.*}} -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %0 = relax.bucketize %x, %b {out_int32, right} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %1 = relax.bucketize %u, %u : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xi64>
  relax.return
}
