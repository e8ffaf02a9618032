//===- Slice.td - slices -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_SLICE_TD
#define RELAX_OPS_SLICE_TD

include "Relax/RelaxBase.td"

#endif // RELAX_OPS_SLICE_TD
