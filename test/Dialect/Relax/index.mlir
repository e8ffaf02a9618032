// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @take
relax.func @take(%x: tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, %i: tensor<?x2xi64, #relax.shape<[m, 2]>>, %j: tensor<i32>, %z: tensor<0xi32>, %u: tensor<*xf32>, %v: tensor<*xi64>) {
  // CHECK: relax.take %{{.*}}, %{{.*}} axis 1 : {{.*}} -> tensor<?x?x2x8xf32, #relax.shape<[n, m, 2, 8]>>
  %0 = relax.take %x, %i axis 1 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<?x?x2x8xf32, #relax.shape<[n, m, 2, 8]>>
  // A scalar index drops the dimension.
  %1 = relax.take %x, %j axis -1 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<i32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // Without an axis, the operand is flattened; `clip` is another rule for
  // out-of-range indices.
  // CHECK: relax.take %{{.*}} {mode = "clip"}
  %2 = relax.take %x, %i {mode = "clip"} : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<?x2xf32, #relax.shape<[m, 2]>>
  %3 = relax.take %x, %z axis 0 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<0xi32>) -> tensor<0x4x8xf32>
  %4 = relax.take %u, %i axis 0 : (tensor<*xf32>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<*xf32>
  %5 = relax.take %x, %v axis 0 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<*xi64>) -> tensor<*xf32>
  %6 = relax.take %u, %i : (tensor<*xf32>, tensor<?x2xi64, #relax.shape<[m, 2]>>) -> tensor<?x2xf32, #relax.shape<[m, 2]>>
  relax.return
}

// CHECK-LABEL: relax.func @gather
relax.func @gather(%x: tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, %i: tensor<?x4x2xi64, #relax.shape<[n, 4, 2]>>, %b: tensor<?x1xi64, #relax.shape<[n, 1]>>, %k: tensor<2x?xi64>, %u: tensor<*xf32>, %v: tensor<*xi64>) {
  // CHECK: relax.gather_elements %{{.*}} axis 2
  %0 = relax.gather_elements %x, %i axis 2 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x4x2xi64, #relax.shape<[n, 4, 2]>>) -> tensor<?x4x2xf32, #relax.shape<[n, 4, 2]>>
  %1 = relax.gather_elements %x, %v axis 2 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<*xi64>) -> tensor<?x?x?xf32>
  %2 = relax.gather_elements %u, %i : (tensor<*xf32>, tensor<?x4x2xi64, #relax.shape<[n, 4, 2]>>) -> tensor<?x4x2xf32, #relax.shape<[n, 4, 2]>>
  // CHECK: relax.gather_nd %{{.*}}, %{{.*}} :
  %3 = relax.gather_nd %x, %i : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x4x2xi64, #relax.shape<[n, 4, 2]>>) -> tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>
  // CHECK: relax.gather_nd %{{.*}}, %{{.*}} batch_dims 1 :
  %4 = relax.gather_nd %x, %b batch_dims 1 : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x1xi64, #relax.shape<[n, 1]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  // The length of the tuples is unknown, and so is the rank of the result.
  %5 = relax.gather_nd %x, %k : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<2x?xi64>) -> tensor<*xf32>
  relax.return
}

// CHECK-LABEL: relax.func @scatter
relax.func @scatter(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?x2xi64, #relax.shape<[m, 2]>>, %v: tensor<?x2xf32, #relax.shape<[m, 2]>>, %t: tensor<?x1xi32, #relax.shape<[m, 1]>>, %r: tensor<?x4xf32, #relax.shape<[m, 4]>>, %u: tensor<*xf32>) {
  // CHECK: relax.scatter_elements %{{.*}} axis 1 {reduction = "max"}
  %0 = relax.scatter_elements %x, %i, %v axis 1 {reduction = "max"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[m, 2]>>, tensor<?x2xf32, #relax.shape<[m, 2]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.scatter_elements %u, %i, %u : (tensor<*xf32>, tensor<?x2xi64, #relax.shape<[m, 2]>>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.scatter_nd
  %2 = relax.scatter_nd %x, %t, %r : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x1xi32, #relax.shape<[m, 1]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %3 = relax.scatter_nd %u, %t, %r {reduction = "add"} : (tensor<*xf32>, tensor<?x1xi32, #relax.shape<[m, 1]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<*xf32>
  relax.return
}

// Index tensors are broadcast: [m, 1] and [2] give [m, 2].
// CHECK-LABEL: relax.func @index
relax.func @index(%x: tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, %i: tensor<?x1xi64, #relax.shape<[m, 1]>>, %j: tensor<2xi32>, %v: tensor<1x8xf32>, %s: tensor<f32>, %u: tensor<*xf32>, %w: tensor<*xi64>) {
  // CHECK: relax.index_tensor %{{.*}}, %{{.*}}, %{{.*}} : {{.*}} -> tensor<?x2x8xf32, #relax.shape<[m, 2, 8]>>
  %0 = relax.index_tensor %x, %i, %j : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x1xi64, #relax.shape<[m, 1]>>, tensor<2xi32>) -> tensor<?x2x8xf32, #relax.shape<[m, 2, 8]>>
  %1 = relax.index_tensor %x, %w : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<*xi64>) -> tensor<*xf32>
  %2 = relax.index_tensor %u, %i : (tensor<*xf32>, tensor<?x1xi64, #relax.shape<[m, 1]>>) -> tensor<*xf32>
  // CHECK: relax.index_put %{{.*}} at %{{.*}}, %{{.*}} values %{{.*}} accumulate :
  %3 = relax.index_put %x at %i, %j values %v accumulate : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x1xi64, #relax.shape<[m, 1]>>, tensor<2xi32>, tensor<1x8xf32>) -> tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>
  // CHECK: relax.index_put %{{.*}} at %{{.*}} values %{{.*}} :
  %4 = relax.index_put %x at %j values %s : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<2xi32>, tensor<f32>) -> tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>
  relax.return
}

// A dynamic number of tokens next to a static number of classes, and the reverse.
// CHECK-LABEL: relax.func @one_hot
relax.func @one_hot(%i: tensor<?x2xi64, #relax.shape<[n, 2]>>, %s: tensor<i32>, %u: tensor<*xi64>) {
  // CHECK: relax.one_hot %{{.*}} depth 10 on 1.000000e+00 : f32 off 0.000000e+00 : f32 : {{.*}} -> tensor<?x2x10xf32, #relax.shape<[n, 2, 10]>>
  %0 = relax.one_hot %i depth 10 on 1.0 : f32 off 0.0 : f32 : (tensor<?x2xi64, #relax.shape<[n, 2]>>) -> tensor<?x2x10xf32, #relax.shape<[n, 2, 10]>>
  // CHECK: relax.one_hot %{{.*}} depth n + 1 on true off false axis 0 :
  %1 = relax.one_hot %i depth n + 1 on true off false axis 0 : (tensor<?x2xi64, #relax.shape<[n, 2]>>) -> tensor<?x?x2xi1, #relax.shape<[n + 1, n, 2]>>
  %2 = relax.one_hot %s depth 0 on 1 : i64 off 0 : i64 : (tensor<i32>) -> tensor<0xi64>
  %3 = relax.one_hot %u depth 3 on 1.0 : f16 off 0.0 : f16 : (tensor<*xi64>) -> tensor<*xf16>
  relax.return
}

// CHECK-LABEL: relax.func @checks
relax.func @checks(%i: tensor<?x2xi64, #relax.shape<[n, 2]>>, %j: tensor<i32>) {
  // CHECK: relax.check_indices %{{.*}} in [n, 4] of ["rows", "columns"] for "gather_nd" "indices" : tensor<?x2xi64, #relax.shape<[n, 2]>>
  relax.check_indices %i in [n, 4] of ["rows", "columns"] for "gather_nd" "indices" : tensor<?x2xi64, #relax.shape<[n, 2]>>
  // CHECK: relax.check_indices %{{.*}} in [2*n] of ["rows"] for "take" "indices" non_negative : tensor<i32>
  relax.check_indices %j in [2*n] of ["rows"] for "take" "indices" non_negative : tensor<i32>
  relax.return
}
