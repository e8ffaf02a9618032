//===- Normalization.td - softmax and norms -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_NORMALIZATION_TD
#define RELAX_OPS_NORMALIZATION_TD

include "Relax/RelaxBase.td"

#endif // RELAX_OPS_NORMALIZATION_TD
