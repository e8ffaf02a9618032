// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-lower-call-tir

// A dataflow block holds no side effects.
relax.func @dataflow(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'relax.dataflow' op must not be left when relax-lower-call-tir runs, since memory is a side effect; run relax-inline-dataflow before}}
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// More bytes than 64 bits can count.
relax.func @overflow() {
  // expected-error @+1 {{overflow}}
  %0 = relax.call_tir @k() : () -> tensor<4611686018427387904x4xf32>
  relax.return
}
func.func private @k(tensor<4611686018427387904x4xf32>) -> tensor<4611686018427387904x4xf32>
