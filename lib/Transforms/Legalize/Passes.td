//===- Passes.td - graph ops to kernels --------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_PASSES_TD
#define RELAX_TRANSFORMS_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // RELAX_TRANSFORMS_LEGALIZE_PASSES_TD
