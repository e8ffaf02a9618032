//===- SymDomains.h - wide integers, intervals, residue ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number domains of symbolic algebra: 128-bit integers, and two
// abstractions of sets of integers.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_SYMBOLIC_SYMDOMAINS_H
#define RELAX_SYMBOLIC_SYMDOMAINS_H

#include <algorithm>
#include <cstdint>

namespace mlir::relax {

__extension__ typedef __int128 Wide;

constexpr Wide kMaxSymValue = INT64_MAX;

inline bool fitsSymValue(Wide value) {
  return value >= -kMaxSymValue && value <= kMaxSymValue;
}
/// Rounds towards minus infinity; `divisor` is nonzero.
inline Wide floorDiv(Wide value, Wide divisor) {
  Wide quotient = value / divisor;
  bool inexact = value % divisor != 0;
  return quotient - (inexact && (value < 0) != (divisor < 0));
}
inline Wide floorMod(Wide value, Wide divisor) {
  return value - divisor * floorDiv(value, divisor);
}
/// Non-negative; gcd(0, x) = |x|.
inline Wide greatestCommonDivisor(Wide lhs, Wide rhs) {
  while (rhs != 0) {
    Wide rest = lhs % rhs;
    lhs = rhs;
    rhs = rest;
  }
  return lhs < 0 ? -lhs : lhs;
}

/// A closed interval. Ends are within ±2^63 or infinite, so that products of
/// two ends are exact; ends further out are rounded conservatively.
struct WideInterval {
  static constexpr Wide infinity = ~(Wide(1) << 127);
  static constexpr Wide limit = Wide(1) << 63;

  Wide lower = -infinity;
  Wide upper = infinity;

  static WideInterval of(Wide lower, Wide upper);
  static WideInterval exactly(Wide value) { return of(value, value); }

  static bool isInfinite(Wide end) {
    return end == infinity || end == -infinity;
  }
  bool isSingle() const { return lower == upper; }
  bool contains(Wide value) const { return lower <= value && value <= upper; }
  /// Undefined or contradictory: contains no value.
  bool isEmpty() const { return lower > upper; }

  WideInterval operator-() const { return of(-upper, -lower); }
  WideInterval operator+(const WideInterval &other) const;
  WideInterval operator*(const WideInterval &other) const;
  WideInterval meet(const WideInterval &other) const;
  WideInterval join(const WideInterval &other) const;
  WideInterval floordiv(const WideInterval &divisor) const;
  WideInterval mod(const WideInterval &divisor) const;
};

/// Modulus 0: the value is exactly the residue. Modulus 1: nothing is known.
struct Congruence {
  Wide modulus = 1;
  Wide residue = 0;

  static Congruence of(Wide modulus, Wide residue);
  Congruence operator+(const Congruence &other) const;
  Congruence operator*(const Congruence &other) const;
  Congruence join(const Congruence &other) const;
  /// The class of the quotient if it is determined, else of all integers.
  Congruence floordiv(const Congruence &divisor) const;
  Congruence mod(const Congruence &divisor) const;
  bool excludes(Wide value) const;
};

/// Moves the ends of `range` to the nearest values of the residue class.
WideInterval tighten(WideInterval range, const Congruence &residues);

} // namespace mlir::relax

#endif // RELAX_SYMBOLIC_SYMDOMAINS_H
