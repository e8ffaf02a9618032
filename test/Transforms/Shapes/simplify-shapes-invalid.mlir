// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-simplify-shapes -verify-diagnostics

// Declared ranges make a dimension negative.
// expected-error @+1 {{dimension k - 1 becomes negative: -1}}
relax.func @negative(%s: !relax.shape<[k]>) -> tensor<?x?xf32> attributes {relax.symbols = {k = #relax.range<0, 0>}} {
  %0 = relax.eye k - 1, 2 {dtype = f32} : tensor<?x2xf32, #relax.shape<[k - 1, 2]>>
  relax.return %0 : tensor<?x2xf32, #relax.shape<[k - 1, 2]>>
}
