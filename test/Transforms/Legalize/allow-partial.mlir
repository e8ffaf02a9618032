// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-legalize=allow-partial | FileCheck %s

// With `allow-partial`, an op without a kernel stays.
// CHECK-LABEL: relax.func @partial
// CHECK: relax.exp
relax.func @partial(%x: tensor<*xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}
