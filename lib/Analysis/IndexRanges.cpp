//===- IndexRanges.cpp - value ranges of integer tensors ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks from a tensor back through its producers and visits each op once (rules
// in IndexRangeRules.cpp). Bounds are symbolic and computed without overflow;
// `ifFits` then checks whether they fit the element type, and drops the range
// if the op may wrap around. Nothing is assumed about parameters, loop-carried
// values, calls and floats.
//
//===----------------------------------------------------------------------===//

#include "Analysis/IndexRanges.h"

using namespace mlir;
using namespace mlir::relax;

/// Limits on the length of op chains and the size of expressions.
static constexpr unsigned kMaxDepth = 64;
static constexpr unsigned kMaxNodes = 32;

/// Whether `expr` has at most `left` nodes; subtracts them from `left`.
static bool isSmall(SymExprAttr expr, unsigned &left) {
  if (left-- == 0)
    return false;
  return llvm::all_of(expr.getOperands(), [&](SymExprAttr operand) {
    return isSmall(operand, left);
  });
}

bool IndexRanges::isAtLeast(SymExprAttr value, int64_t least) {
  return prover.lessEqual(number(least), value) == Truth::Yes;
}

bool IndexRanges::fitsWord(SymExprAttr value, bool isUpper) {
  if (!value)
    return false;
  SymInterval interval = prover.interval(value);
  if (isUpper ? interval.upper : interval.lower)
    return true;
  // Each symbol is a 64-bit number.
  bool fits = false;
  value.walkSymbols([&](StringAttr name) {
    if (fits)
      return;
    SymExprAttr symbol = math.symbol(name.getValue());
    fits = (isUpper ? prover.lessEqual(value, symbol)
                    : prover.lessEqual(math.neg(symbol), value)) == Truth::Yes;
  });
  return fits;
}

IndexRange IndexRanges::ifFits(IndexRange range, Type element) {
  auto type = cast<IntegerType>(element);
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  auto [lower, upper] = range;
  if (!lower || !upper)
    return {};
  bool isNotNegative = isAtLeast(lower, 0);
  bool lowerFits, upperFits;
  if (width >= 64) {
    lowerFits = isUnsigned ? isNotNegative : fitsWord(lower, /*isUpper=*/false);
    upperFits = fitsWord(upper, /*isUpper=*/true);
  } else {
    unsigned bits = isUnsigned ? width : width - 1;
    int64_t end = int64_t(1) << bits;
    lowerFits = isAtLeast(lower, isUnsigned ? 0 : -end);
    upperFits = prover.lessEqual(upper, number(end - 1)) == Truth::Yes;
  }
  if (lowerFits && upperFits)
    return range;
  // If `upper` fits the type, nothing wraps around. Otherwise, no value of the
  // type is further from 0 than `upper`.
  if (isNotNegative)
    return {isUnsigned ? number(0) : math.neg(upper), upper};
  return {};
}

IndexRange IndexRanges::limitedByType(IndexRange range, Type element) {
  auto type = cast<IntegerType>(element);
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  if (width > 64)
    return range;
  if (!range.lower && isUnsigned)
    range.lower = number(0);
  if (width == 64)
    return range;
  int64_t end = int64_t(1) << (isUnsigned ? width : width - 1);
  if (!range.lower)
    range.lower = number(-end);
  if (!range.upper)
    range.upper = number(end - 1);
  return range;
}

IndexRange IndexRanges::join(IndexRange lhs, IndexRange rhs) {
  IndexRange result;
  if (lhs.lower && rhs.lower)
    result.lower = math.min({lhs.lower, rhs.lower});
  if (lhs.upper && rhs.upper)
    result.upper = math.max({lhs.upper, rhs.upper});
  return result;
}

IndexRange IndexRanges::ofOperands(ValueRange tensors) {
  if (tensors.empty())
    return {};
  IndexRange range = of(tensors.front());
  for (Value tensor : tensors.drop_front())
    range = join(range, of(tensor));
  return range;
}

IndexRange IndexRanges::of(Value tensor) {
  auto type = dyn_cast<TensorType>(tensor.getType());
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : nullptr;
  if (!element)
    return {};
  if (auto it = known.find(tensor); it != known.end())
    return it->second;
  IndexRange range;
  if (depth < kMaxDepth) {
    ++depth;
    range = compute(tensor);
    --depth;
  }
  for (SymExprAttr *end : {&range.lower, &range.upper}) {
    unsigned left = kMaxNodes;
    if (*end && !isSmall(*end, left))
      *end = {};
  }
  range = limitedByType(range, element);
  known[tensor] = range;
  return range;
}

bool IndexRanges::areInside(Value tensor, SymExprAttr size, bool nonNegative) {
  IndexRange range = of(tensor);
  SymExprAttr least = nonNegative ? number(0) : math.neg(size);
  return prover.lessEqual(least, range.lower) == Truth::Yes &&
         prover.less(range.upper, size) == Truth::Yes;
}
