// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt --allow-unregistered-dialect --relax-deduce-shapes --relax-simplify-shapes %s | FileCheck %s
// RUN: relax-opt --allow-unregistered-dialect --relax-bind-symbols --relax-dce --relax-cse %s | FileCheck %s
// RUN: relax-opt --allow-unregistered-dialect --relax-inline --relax-to-dataflow --relax-inline-dataflow %s | FileCheck %s

// An op of no known dialect passes through every pass as it is.
// CHECK-LABEL: relax.func @unregistered
// CHECK: "other.op"
relax.func @unregistered(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = "other.op"(%x) {v = #relax.expr<n + 1>} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
