// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels note the sizes that they compute, in their own symbols, and keep them when they are fused.

// RUN: relax-opt %s -relax-legalize | FileCheck %s --check-prefix=LEGAL
// RUN: relax-opt %s -relax-legalize -relax-annotate-kernel-patterns -relax-fuse-ops -relax-fuse-tir -relax-dce | FileCheck %s

// The caller computes the sizes of parameters anyway.
// LEGAL-LABEL: func.func private @broadcast_to(
// LEGAL-NOT: relax.computed_sizes
// LEGAL-LABEL: func.func private @arange(
// LEGAL-SAME: relax.computed_sizes = [#relax.expr<s0*s1>]

// CHECK-LABEL: func.func private @fused_broadcast_to_sum(
// CHECK-SAME: relax.computed_sizes = [#relax.expr<n floordiv m>]
relax.func @main(%m: index {relax.symbol = "m"}, %n: index {relax.symbol = "n"}) -> tensor<f32> {
  %x = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.broadcast_to %x to [n floordiv m] : (tensor<f32>) -> tensor<?xf32, #relax.shape<[n floordiv m]>>
  %1 = relax.sum %0 : (tensor<?xf32, #relax.shape<[n floordiv m]>>) -> tensor<f32>
  relax.return %1 : tensor<f32>
}

relax.func @position(%m: index {relax.symbol = "m"}, %n: index {relax.symbol = "n"}) -> tensor<3xi64> {
  %0 = relax.arange m*n, m*n + 3, 1 {dtype = i64} : tensor<3xi64>
  relax.return %0 : tensor<3xi64>
}
