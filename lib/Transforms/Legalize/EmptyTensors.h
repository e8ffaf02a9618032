//===- EmptyTensors.h - tensors without elements ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_EMPTYTENSORS_H
#define RELAX_TRANSFORMS_LEGALIZE_EMPTYTENSORS_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::relax {

/// Whether a type says that a tensor has no element; of symbolic dimensions
/// Movement.h says the same.
inline bool hasNoElement(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && llvm::is_contained(shaped.getShape(), 0);
}

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_EMPTYTENSORS_H
