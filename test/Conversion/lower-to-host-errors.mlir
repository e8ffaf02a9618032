// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt --relax-lower-to-host="device=abacus" --verify-diagnostics %s

// Unknown devices are rejected.
// expected-error@below {{there is no device 'abacus'; there are "", "cuda" and "vulkan"}}
module {
}
