// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-lower-call-tir

// A dataflow block must not contain side effects.
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

// The number of bytes exceeds 64 bits.
relax.func @overflow() {
  // expected-error @+1 {{overflow}}
  %0 = relax.call_tir @k() : () -> tensor<4611686018427387904x4xf32>
  relax.return
}
func.func private @k(tensor<4611686018427387904x4xf32>) -> tensor<4611686018427387904x4xf32>

// -----

// %x shares the memory of %0.
relax.func @written_over(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{'relax.call_tir_inplace' op overwrites operand 0, which is used afterwards; use the result, or pass a copy}}
  %0 = relax.call_tir_inplace @k(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{used here}}
  relax.return %0, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @k(tensor<4xf32>) -> tensor<4xf32>

// -----

// The callee writes into its parameter, and so into %x.
relax.func @callee(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_library_inplace "lib.zero"(%y) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func @caller(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @+1 {{'relax.call' op overwrites operand 0, which is used afterwards; use the result, or pass a copy}}
  %0 = relax.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{used here}}
  %1 = relax.flatten %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}

// -----

// The kernel would read what it has written.
relax.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'relax.call_tir_inplace' op overwrites operand 0, which it uses again; pass a copy}}
  %0 = relax.call_tir_inplace @k(%x, %x) inplace [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
