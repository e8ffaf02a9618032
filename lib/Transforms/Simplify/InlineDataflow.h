//===- InlineDataflow.h - dissolve dataflow blocks --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SIMPLIFY_INLINEDATAFLOW_H
#define RELAX_TRANSFORMS_SIMPLIFY_INLINEDATAFLOW_H

#include "Relax/Ops/Control.h"

namespace mlir::relax {

/// Moves the ops of a dataflow block before it, and removes it.
void inlineDataflow(DataflowOp dataflow);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_SIMPLIFY_INLINEDATAFLOW_H
