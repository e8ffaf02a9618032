//===- ApproximateMath.h - vector math as polynomials -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_APPROXIMATEMATH_H
#define RELAX_TARGET_COMMON_APPROXIMATEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::relax {

/// Patterns that replace math functions on vectors of f32 and narrower floats
/// by polynomials. Sine and cosine are included only if there is a math
/// library, since large arguments need it.
void populateApproximateMathPatterns(RewritePatternSet &patterns,
                                     bool hasLibrary);

} // namespace mlir::relax

#endif // RELAX_TARGET_COMMON_APPROXIMATEMATH_H
