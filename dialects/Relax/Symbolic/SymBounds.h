//===- SymBounds.h - upper bounds of polynomials ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMBOUNDS_H
#define RELAX_SYMBOLIC_SYMBOUNDS_H

#include "Relax/Symbolic/SymRange.h"

namespace mlir::relax {

/// One search for an upper bound, which ends as soon as `target` is reached.
class SymBounds {
public:
  /// `budget` limits the number of polynomial terms examined.
  SymBounds(SymRanges &ranges, MLIRContext *context, Wide target,
            size_t &budget)
      : ranges(ranges), context(context), target(target), budget(budget) {}

  Wide search(const SymPoly &poly) {
    SmallVector<SymExprAttr> kept;
    return search(poly, kept);
  }

private:
  /// `poly = coefficient * cofactor * atom + rest`; the cofactor's sign is
  /// moved to the coefficient. `positive`: a larger atom makes `poly` larger.
  struct Split {
    SymExprAttr monomial;
    SymExprAttr atom;
    SymPoly cofactor; // times the coefficient
    SymPoly rest;
    bool positive;
  };

  Wide search(const SymPoly &poly, SmallVectorImpl<SymExprAttr> &kept);
  /// Whether a single operand suffices to bound a minimum or maximum.
  static bool isFreeChoice(const Split &part) {
    return part.positive == (part.atom.getKind() == SymKind::Min);
  }
  static int getUrgency(const Split &part) {
    SymKind kind = part.atom.getKind();
    if (kind == SymKind::Broadcast)
      return 2;
    if (kind != SymKind::Min && kind != SymKind::Max)
      return 1;
    return isFreeChoice(part) ? 0 : 2;
  }
  std::optional<Split> split(const SymPoly &poly, ArrayRef<SymExprAttr> kept);
  Wide eliminate(const SymPoly &poly, const Split &part,
                 SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateDivision(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateMod(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide compareDivisions(const Split &part, SmallVectorImpl<SymExprAttr> &kept);
  Wide eliminateChoice(const SymPoly &poly, const Split &part,
                       SmallVectorImpl<SymExprAttr> &kept);

  /// The bound with `atom` replaced by `value` in the split term only.
  Wide replace(const Split &part, const SymPoly &value,
               SmallVectorImpl<SymExprAttr> &kept) {
    SymPoly poly = SymPoly::multiply(part.cofactor, value);
    poly.add(part.rest);
    poly.normalize();
    return search(poly, kept);
  }
  /// The same, replaced in all terms.
  Wide assume(const SymPoly &poly, SymExprAttr atom, SymExprAttr value,
              SmallVectorImpl<SymExprAttr> &kept);

  SymRanges &ranges;
  MLIRContext *context;
  Wide target;
  size_t &budget;
};

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMBOUNDS_H
