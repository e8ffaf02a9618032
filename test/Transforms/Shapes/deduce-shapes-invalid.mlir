// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-deduce-shapes -verify-diagnostics

// No single op can prove the conflict: sizes 4 and 5 meet after two calls.
relax.func @contradiction(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<*xf32> {
  %0 = relax.call @identity(%x) : (tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.call @identity(%y) : (tensor<5xf32>) -> tensor<*xf32>
  // expected-error @+1 {{'relax.add' op operands cannot be broadcast: dimension 0 of lhs is 4, dimension 0 of rhs is 5}}
  %2 = relax.add %0, %1 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  relax.return %2 : tensor<*xf32>
}
relax.func private @identity(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  relax.return %x : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// After deduction, the cast can never hold.
relax.func @cast(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  // expected-error @+1 {{'relax.match_cast' op can never hold: 'tensor<4xf32>' is not a 'tensor<5xf32>'}}
  %1 = relax.match_cast %0 : (tensor<*xf32>) -> tensor<5xf32>
  relax.return %1 : tensor<5xf32>
}

// -----

// The argument does not match the parameter.
relax.func @call(%x: tensor<4xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  // expected-error @+1 {{'relax.call' op dimension 0 of argument 0: expected 5, got 4}}
  %1 = relax.call @five(%0) : (tensor<*xf32>) -> tensor<*xf32>
  relax.return %1 : tensor<*xf32>
}
relax.func private @five(%x: tensor<5xf32>) -> tensor<5xf32>
