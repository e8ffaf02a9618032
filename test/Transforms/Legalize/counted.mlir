// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-legalize -split-input-file | FileCheck %s

// One kernel counts, its count becomes a symbol, and another kernel fills a result of that size.
// CHECK-LABEL: relax.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32
// CHECK: %[[COUNT:.*]] = relax.call_tir @[[COUNTING:.*]](%[[X]]) : {{.*}} -> tensor<1xi64>
// CHECK: %[[SHAPE:.*]] = relax.tensor_to_shape %[[COUNT]]
// CHECK: relax.match_cast %[[SHAPE]] : {{.*}} -> !relax.shape<[d0]>
// CHECK: %[[FOUND:.*]] = relax.call_tir @[[FILLING:.*]](%[[X]]) : {{.*}} -> tensor<2x?xi64, #relax.shape<[2, d0]>>
// CHECK: relax.match_cast %[[FOUND]] : {{.*}} -> tensor<2x?xi64>
// CHECK: func.func private @[[COUNTING]](%{{.*}}: tensor<?x4xf32> {{.*}}, %{{.*}}: tensor<1xi64>)
// CHECK: func.func private @[[FILLING]](%{{.*}}: tensor<?x4xf32> {{.*}}, %{{.*}}: tensor<2x?xi64>
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<2x?xi64> {
  %0 = relax.nonzero %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<2x?xi64>
  relax.return %0 : tensor<2x?xi64>
}

// -----

// A kernel computes the size of each dimension of a slice, and counts strides of 0, which are errors.
// CHECK-LABEL: relax.func @slice(
// CHECK: %[[COUNT:.*]] = relax.call_tir @[[COUNTING:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> tensor<3xi64>
// CHECK: %[[SHAPE:.*]] = relax.tensor_to_shape %[[COUNT]]
// CHECK: relax.match_cast %[[SHAPE]] : {{.*}} -> !relax.shape<[d0, d1, d2]>
// CHECK: %[[ZEROS:.*]] = relax.sym d2 : index
// CHECK: arith.cmpi eq, %[[ZEROS]]
// CHECK: relax.assert %{{.*}}, "dynamic_strided_slice: a stride must not be 0"
// CHECK: relax.call_tir @{{.*}} -> tensor<?x?xf32, #relax.shape<[d0, d1]>>
relax.func @slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %b: tensor<2xi64>, %e: tensor<2xi64>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relax.dynamic_strided_slice %x, %b, %e, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  relax.return %0 : tensor<?x?xf32>
}

// -----

// Unknown dimensions of a shape operand get symbols, which the result has as well.
// CHECK-LABEL: relax.func @shape(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[SHAPE:.*]]: !relax.shape
// CHECK: relax.match_cast %[[SHAPE]] : {{.*}} -> !relax.shape<[d0, d1]>
// CHECK: relax.call_tir @broadcast_to{{.*}} -> tensor<?x?xf32, #relax.shape<[d0, d1]>>
relax.func @shape(%x: tensor<4xf32>, %s: !relax.shape<2>) -> tensor<?x?xf32> {
  %0 = relax.broadcast_to %x, %s : (tensor<4xf32>, !relax.shape<2>) -> tensor<?x?xf32>
  relax.return %0 : tensor<?x?xf32>
}
