// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -allow-unregistered-dialect -relax-check-indices -relax-legalize | FileCheck %s

// Ops without a dialect stay as they are, in graph functions and in kernels.
// CHECK-LABEL: relax.func @graph
// CHECK:         "unknown"(%{{.*}}) : (tensor<4xf32>) -> ()
// CHECK:         relax.call_tir @exp
relax.func @graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  "unknown"(%x) : (tensor<4xf32>) -> ()
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
