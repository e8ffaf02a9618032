// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-legalize | FileCheck %s

// A kernel counts, its count becomes a symbol, and another kernel fills that much.
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
