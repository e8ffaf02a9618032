// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-simplify | FileCheck %s
// RUN: relax-opt %s -pass-pipeline='builtin.module(relax-simplify)' | FileCheck %s

// A shape that is computed in a roundabout way is simplified, and the ops that computed it are removed.
// CHECK-LABEL: relax.func @main(
// CHECK-SAME:    -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[4, n]>)
// CHECK-NEXT:    %[[S:.*]] = relax.shape [4, n] : !relax.shape<[4, n]>
// CHECK-NEXT:    %[[E:.*]] = relax.exp {{.*}} -> tensor<?x4xf32, #relax.shape<[n, 4]>>
// CHECK-NEXT:    relax.return %[[E]], %[[S]]
// CHECK-NOT:   relax.func
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<*xf32>, !relax.shape<2>) attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
  %0:2 = relax.call @helper(%x) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<*xf32>, !relax.shape<2>)
  relax.return %0#0, %0#1 : tensor<*xf32>, !relax.shape<2>
}
relax.func private @helper(%x: tensor<?x?xf32, #relax.shape<[a, b]>>) -> (tensor<*xf32>, !relax.shape<2>) {
  %0 = relax.shape_of %x : (tensor<?x?xf32, #relax.shape<[a, b]>>) -> !relax.shape<*>
  %1 = relax.match_cast %0 : (!relax.shape<*>) -> !relax.shape<[c, d]>
  %2 = relax.dim %1, 0 : (!relax.shape<[c, d]>) -> index
  %3 = relax.dim %1, -1 : (!relax.shape<[c, d]>) -> index
  %4 = relax.make_shape %3, %2 : (index, index) -> !relax.shape<2>
  %5 = relax.shape_to_tensor %4 : (!relax.shape<2>) -> tensor<2xi64>
  %6 = relax.tensor_to_shape %5 : (tensor<2xi64>) -> !relax.shape<2>
  %7 = relax.exp %x : (tensor<?x?xf32, #relax.shape<[a, b]>>) -> tensor<*xf32>
  %8 = relax.exp %x : (tensor<?x?xf32, #relax.shape<[a, b]>>) -> tensor<?x?xf32>
  relax.return %8, %6 : tensor<?x?xf32>, !relax.shape<2>
}
