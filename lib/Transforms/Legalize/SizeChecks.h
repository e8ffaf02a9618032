//===- SizeChecks.h - checks of sizes at run time ------------- -*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_SIZECHECKS_H
#define RELAX_TRANSFORMS_LEGALIZE_SIZECHECKS_H

#include "Transforms/Legalize/KernelBuilder.h"

namespace mlir::relax {

/// The checks before the ops of one function, of what could not be proved.
class SizeChecks {
public:
  /// Emits an assertion before `op` whose message names the op and the sizes,
  /// and for a single size its required value. The lowering adds the function's
  /// name. Sizes that the user cannot know are not shown.
  void add(Operation *op, const Guard &guard, bool shows = true);

  /// Checks that the dimensions that `op` is asked for are not negative.
  void addForResult(Operation *op, Type type);

  /// Whether any check was added. A function with a check is not pure.
  bool any() const { return isUsed; }

private:
  bool isUsed = false;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_SIZECHECKS_H
