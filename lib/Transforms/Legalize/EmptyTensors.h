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

/// Whether the type proves that a tensor is empty; see Movement.h for symbolic
/// dimensions.
inline bool hasNoElement(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && llvm::is_contained(shaped.getShape(), 0);
}

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_EMPTYTENSORS_H
