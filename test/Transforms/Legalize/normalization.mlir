// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize | FileCheck %s

// One kernel: the greatest element, powers in the destination, their sum, and the quotient in place.
// CHECK-LABEL: func.func private @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {{{.*}}}, %[[OUT:.*]]: tensor<?x4xf32>
// CHECK: %[[GREATEST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]]
// CHECK: %[[POWERS:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[GREATEST]] {{.*}}) outs(%[[OUT]]
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[POWERS]]
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] {{.*}}) outs(%[[POWERS]]
// CHECK: arith.divf
relax.func @rows(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
  %0 = relax.softmax %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
}

// -----

// Given statistics are returned unchanged and are not results of the kernel.
// CHECK-LABEL: relax.func @statistics
// CHECK: %[[Y:.*]] = relax.call_tir @batch_norm(
// CHECK: relax.return %[[Y]], %arg3, %arg4
relax.func @statistics(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0, %1, %2 = relax.batch_norm %x, %g, %b, %m, %v axis 1 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  relax.return %0, %1, %2 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
}
