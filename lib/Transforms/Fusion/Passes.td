//===- Passes.td - kernel patterns and fusion --------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_PASSES_TD
#define RELAX_TRANSFORMS_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // RELAX_TRANSFORMS_FUSION_PASSES_TD
