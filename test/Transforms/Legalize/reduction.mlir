// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize | FileCheck %s

// A sum accumulates in the destination; narrow sums, and sums that keep dimensions, have a separate accumulator.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {{{.*}}}, %[[OUT:.*]]: tensor<?xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[OUT]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] {{.*}}) outs(%[[ZERO]]
// CHECK: return %[[SUM]]
// CHECK-LABEL: func.func private @sum_0(
// CHECK: tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: arith.extf
// CHECK: arith.truncf
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?x4xf16, #relax.shape<[n, 4]>>) -> (tensor<?xf32>, tensor<?x1xf16>) {
  %0 = relax.sum %x axis [1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sum %y axis [1] keepdims : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x1xf16, #relax.shape<[n, 1]>>
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[n]>>, tensor<?x1xf16, #relax.shape<[n, 1]>>
}

// -----

// A maximum needs an element.
// CHECK: relax.assert %{{.*}}, "{{.*}}: reduced dimensions must not be empty: 
// CHECK: relax.call_tir @max
relax.func @greatest(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<f32> {
  %0 = relax.max %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<f32>
  relax.return %0 : tensor<f32>
}
