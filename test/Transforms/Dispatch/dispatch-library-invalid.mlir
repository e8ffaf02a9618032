// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-dispatch-library

// expected-error @+1 {{a pattern needs a body}}
relax.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = {function = "f"}}

// -----

relax.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = {function = "f"}} {
  // expected-error @+1 {{a pattern must return one value that an op computes}}
  relax.return %x : tensor<4xf32>
}

// -----

relax.func private @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = {function = "f"}} {
  // expected-error @+1 {{a pattern must not contain control flow or side effects}}
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{parameter 1 of a pattern is not used}}
relax.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = {function = "f"}} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'sym' uses symbol 'm', which no parameter defines}}
relax.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = {function = "f", sym = [#relax.expr<m>]}} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'relax.library' must be a dictionary with the name of a 'function', on a graph function}}
relax.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.library = "f"} {
  relax.return %x : tensor<4xf32>
}
