// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// expected-error @+1 {{the rank of a shape must be between 0 and 1024, got 1025}}
relax.func private @f(!relax.shape<1025>)

// -----

// expected-error @+1 {{the rank of a shape must be between 0 and 1024, got -1}}
relax.func private @f(!relax.shape<-1>)

// -----

// expected-error @+1 {{dimension 0 is negative: -4}}
relax.func private @f(!relax.shape<[-4]>)

// -----

// expected-error @+1 {{unknown  type `nothing` in dialect `relax`}}
relax.func private @f(!relax.nothing)

// -----

// expected-error @+1 {{expected '<'}}
relax.func private @f(!relax.shape)
