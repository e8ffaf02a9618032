//===- ApproximateMath.h - functions of vectors as polynomials --*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_APPROXIMATEMATH_H
#define RELAX_TARGET_COMMON_APPROXIMATEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::relax {

/// Functions of vectors of f32 and less become polynomials; sines where there
/// is a library of functions, whose those of large arguments are.
void populateApproximateMathPatterns(RewritePatternSet &patterns,
                                     bool hasLibrary);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_APPROXIMATEMATH_H
