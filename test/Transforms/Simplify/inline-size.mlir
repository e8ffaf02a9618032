// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-inline=max-size=2 | FileCheck %s

// A larger function is inlined only if it is called once.
// CHECK-LABEL: relax.func @main(
// CHECK-NOT:     relax.call @once
// CHECK:         relax.call @large
// CHECK:         relax.call @large
// CHECK-NOT:     relax.call @small
relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @large(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.call @large(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.call @small(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.call @small(%3) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %4 : tensor<4xf32>
}
relax.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}
relax.func private @large(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}
relax.func private @small(%x: tensor<4xf32>) -> tensor<4xf32> {
  relax.return %x : tensor<4xf32>
}
