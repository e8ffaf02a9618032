//===- RangeProof.h - declared ranges of symbols ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_RANGEPROOF_H
#define RELAX_ANALYSIS_RANGEPROOF_H

#include "Relax/Symbolic/Prover.h"

namespace mlir::relax {

/// Whether `value` is proved to be in the range that a callee declares, and
/// would check.
inline bool isProvedInRange(SymExprAttr value, SymbolFacts::Range range,
                            const Prover &prover) {
  auto constant = [&](int64_t number) {
    return SymExprAttr::getConstant(value.getContext(), number);
  };
  return prover.lessEqual(constant(range.lower), value) == Truth::Yes &&
         (!range.upper ||
          prover.lessEqual(value, constant(*range.upper)) == Truth::Yes) &&
         (range.multipleOf == 1 ||
          prover.divisible(value, constant(range.multipleOf)) == Truth::Yes);
}

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_RANGEPROOF_H
