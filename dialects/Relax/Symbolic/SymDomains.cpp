//===- SymDomains.cpp - intervals and residue classes ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Symbolic/SymDomains.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <iterator>

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

WideInterval WideInterval::of(Wide lower, Wide upper) {
  WideInterval result;
  if (lower >= -limit)
    result.lower = std::min(lower, limit);
  if (upper <= limit)
    result.upper = std::max(upper, -limit);
  return result;
}

static Wide addEnds(Wide lhs, Wide rhs) {
  return WideInterval::isInfinite(lhs)   ? lhs
         : WideInterval::isInfinite(rhs) ? rhs
                                         : lhs + rhs;
}

static Wide multiplyEnds(Wide lhs, Wide rhs) {
  if (lhs == 0 || rhs == 0)
    return 0;
  if (!WideInterval::isInfinite(lhs) && !WideInterval::isInfinite(rhs))
    return lhs * rhs;
  return (lhs < 0) == (rhs < 0) ? WideInterval::infinity
                                : -WideInterval::infinity;
}

/// Divides by a positive, possibly infinite divisor; then quotients approach 0
/// or -1.
static Wide divideEnds(Wide dividend, Wide divisor) {
  if (WideInterval::isInfinite(dividend))
    return dividend;
  return WideInterval::isInfinite(divisor) ? (dividend < 0 ? -1 : 0)
                                           : floorDiv(dividend, divisor);
}

WideInterval WideInterval::operator+(const WideInterval &other) const {
  return of(addEnds(lower, other.lower), addEnds(upper, other.upper));
}

WideInterval WideInterval::operator*(const WideInterval &other) const {
  Wide corners[] = {
      multiplyEnds(lower, other.lower), multiplyEnds(lower, other.upper),
      multiplyEnds(upper, other.lower), multiplyEnds(upper, other.upper)};
  auto [least, greatest] =
      std::minmax_element(std::begin(corners), std::end(corners));
  return of(*least, *greatest);
}

WideInterval WideInterval::meet(const WideInterval &other) const {
  return {std::max(lower, other.lower), std::min(upper, other.upper)};
}

WideInterval WideInterval::join(const WideInterval &other) const {
  if (isEmpty() || other.isEmpty())
    return isEmpty() ? other : *this;
  return {std::min(lower, other.lower), std::max(upper, other.upper)};
}

/// Excludes zero divisors and reduces negative ones by a / b = -a / -b.
using OfDivisor = llvm::function_ref<WideInterval(WideInterval)>;
static WideInterval bySignOfDivisor(const WideInterval &divisor,
                                    OfDivisor positive, OfDivisor negative) {
  WideInterval above = divisor.meet({1, WideInterval::infinity});
  WideInterval below = divisor.meet({-WideInterval::infinity, -1});
  WideInterval result{1, 0};
  if (!above.isEmpty())
    result = result.join(positive(above));
  if (!below.isEmpty())
    result = result.join(negative(-below));
  return result;
}

WideInterval WideInterval::floordiv(const WideInterval &divisor) const {
  // Monotone in the dividend, and in the divisor for each sign of the dividend.
  auto divide = [](const WideInterval &a, const WideInterval &b) {
    return of(
        std::min(divideEnds(a.lower, b.lower), divideEnds(a.lower, b.upper)),
        std::max(divideEnds(a.upper, b.lower), divideEnds(a.upper, b.upper)));
  };
  auto positive = [&](WideInterval b) { return divide(*this, b); };
  auto negative = [&](WideInterval b) { return divide(-*this, b); };
  return bySignOfDivisor(divisor, positive, negative);
}

WideInterval WideInterval::mod(const WideInterval &divisor) const {
  auto modulo = [](const WideInterval &a, const WideInterval &b) {
    if (a.lower >= 0 && a.upper < b.lower)
      return a;
    Wide quotient = divideEnds(a.lower, b.lower);
    if (b.isSingle() && !WideInterval::isInfinite(a.lower) &&
        !WideInterval::isInfinite(a.upper) &&
        quotient == divideEnds(a.upper, b.lower))
      return of(a.lower - quotient * b.lower, a.upper - quotient * b.lower);
    Wide most = WideInterval::isInfinite(b.upper) ? infinity : b.upper - 1;
    return of(0, a.lower >= 0 ? std::min(most, a.upper) : most);
  };
  auto positive = [&](WideInterval b) { return modulo(*this, b); };
  auto negative = [&](WideInterval b) { return -modulo(-*this, b); };
  return bySignOfDivisor(divisor, positive, negative);
}

//===----------------------------------------------------------------------===//
// Congruences
//===----------------------------------------------------------------------===//

Congruence Congruence::of(Wide modulus, Wide residue) {
  constexpr Wide largest = Wide(1) << 62;
  modulus = modulus < 0 ? -modulus : modulus;
  // Keeps numbers small enough to multiply: any divisor of a modulus is a valid
  // modulus.
  if (modulus > largest)
    modulus = greatestCommonDivisor(modulus, largest);
  else if (modulus == 0 && !fitsSymValue(residue))
    modulus = largest;
  return {modulus, modulus == 0 ? residue : floorMod(residue, modulus)};
}

Congruence Congruence::operator+(const Congruence &other) const {
  return of(greatestCommonDivisor(modulus, other.modulus),
            residue + other.residue);
}

/// (g*s + r) * (h*t + q) = g*h*s*t + g*q*s + h*r*t + r*q
Congruence Congruence::operator*(const Congruence &other) const {
  Wide common =
      greatestCommonDivisor(modulus * other.modulus, modulus * other.residue);
  return of(greatestCommonDivisor(common, other.modulus * residue),
            residue * other.residue);
}

Congruence Congruence::join(const Congruence &other) const {
  Wide common = greatestCommonDivisor(modulus, other.modulus);
  return of(greatestCommonDivisor(common, residue - other.residue), residue);
}

/// (g*t + r) floordiv c = (g/c)*t + r floordiv c    where c divides g
Congruence Congruence::floordiv(const Congruence &divisor) const {
  Wide c = divisor.residue;
  if (divisor.modulus != 0 || c == 0 || modulus % c != 0)
    return {};
  return of(modulus / c, floorDiv(residue, c));
}

/// a mod b = a - b*q for some q
Congruence Congruence::mod(const Congruence &divisor) const {
  Wide c = divisor.residue;
  if (divisor.modulus == 0 && c != 0 && modulus % c == 0)
    return of(0, floorMod(residue, c));
  Wide common = greatestCommonDivisor(divisor.modulus, c);
  return of(greatestCommonDivisor(modulus, common), residue);
}

bool Congruence::excludes(Wide value) const {
  return modulus == 0 ? value != residue : (value - residue) % modulus != 0;
}

WideInterval relax::tighten(WideInterval range, const Congruence &residues) {
  Wide modulus = residues.modulus;
  if (modulus == 0)
    return range.meet(WideInterval::exactly(residues.residue));
  if (!WideInterval::isInfinite(range.lower))
    range.lower += floorMod(residues.residue - range.lower, modulus);
  if (!WideInterval::isInfinite(range.upper))
    range.upper -= floorMod(range.upper - residues.residue, modulus);
  return range.isEmpty() ? range : WideInterval::of(range.lower, range.upper);
}
