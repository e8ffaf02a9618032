// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize=many-threads | FileCheck %s

// Chunks are summed, the sums are scanned in each line, then each chunk is scanned from its start value.
// CHECK-LABEL: func.func private @cumsum(
// CHECK: %[[SUMS:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}})
// CHECK: scf.for
// CHECK: tensor.parallel_insert_slice
// CHECK: %[[BEFORE:.*]] = scf.forall (%{{.*}}) in (%{{.*}}) shared_outs(%{{.*}} = %[[SUMS]])
// CHECK: scf.for
// CHECK: %[[RESULT:.*]] = scf.forall (%[[ROW:.*]], %[[CHUNK:.*]]) in (%{{.*}}, %{{.*}})
// CHECK: tensor.extract %[[BEFORE]][%[[ROW]], %[[CHUNK]]]
// CHECK: scf.for
// CHECK: return %[[RESULT]]
relax.func @main(%x: tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>> {
  %0 = relax.cumsum %x axis 1 : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>
  relax.return %0 : tensor<?x?xf32, #relax.shape<[m, n]>>
}

// -----

// Two passes over all elements form a round, from one scratch tensor to the other and back.
// CHECK-LABEL: func.func private @sort(
// CHECK: scf.for {{.*}} iter_args(%[[FROM:.*]] = %{{.*}}, %[[TO:.*]] = %{{.*}})
// CHECK: %[[THERE:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[TO]])
// CHECK: scf.while
// CHECK: %[[BACK:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[FROM]])
// CHECK: scf.while
// CHECK: scf.yield %[[BACK]], %[[THERE]]
relax.func @main(%x: tensor<4x100xf32>) -> tensor<4x100xf32> {
  %0 = relax.sort %x : (tensor<4x100xf32>) -> tensor<4x100xf32>
  relax.return %0 : tensor<4x100xf32>
}

// -----

// Updates of different columns do not conflict; updates of one column are in order.
// CHECK-LABEL: func.func private @scatter_elements(
// CHECK: scf.forall (%[[COLUMN:.*]]) in (6)
// CHECK: tensor.extract_slice %{{.*}}[0, %[[COLUMN]]] [%{{.*}}, 1] [1, 1] : tensor<5x6xf32> to tensor<?xf32>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
relax.func @main(%x: tensor<5x6xf32>, %indices: tensor<4x6xi64>, %updates: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %0 = relax.scatter_elements %x, %indices, %updates {axis = 0 : i64, reduction = "add"}
      : (tensor<5x6xf32>, tensor<4x6xi64>, tensor<4x6xf32>) -> tensor<5x6xf32>
  relax.return %0 : tensor<5x6xf32>
}

// -----

// First the greatest element of a row, then the least position of an element that equals it or is NaN.
// CHECK-LABEL: func.func private @argmax(
// CHECK: %[[BEST:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BEST]] :
// CHECK: arith.select
// CHECK: %[[FIRST:.*]] = arith.minsi
// CHECK: linalg.yield %[[FIRST]]
relax.func @main(%x: tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?xi64, #relax.shape<[m]>> {
  %0 = relax.argmax %x axis 1 : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?xi64, #relax.shape<[m]>>
  relax.return %0 : tensor<?xi64, #relax.shape<[m]>>
}
