//===- IntegerElements.h - integer tensors as expressions -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_INTEGERELEMENTS_H
#define RELAX_INTEGERELEMENTS_H

#include "Relax/ShapeUtils.h"

namespace mlir::relax {

/// The maximum rank of a shape, and the maximum number of elements tracked.
constexpr int64_t kMaxShapeRank = 1024;

/// The elements of an i64 tensor of rank zero or one as expressions, as far as
/// its defining ops determine them; nullopt if not even their number is known.
/// Importers compute shapes on such tensors: shape, gather, slice, concat, and
/// back to a shape.
std::optional<SymDims> getIntegerElements(Value value);

} // namespace mlir::relax

#endif // RELAX_INTEGERELEMENTS_H
