//===- Passes.td - kernels to CPU code ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_PASSES_TD
#define RELAX_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // RELAX_TARGET_CPU_PASSES_TD
