//===- ElementwiseFold.cpp - folds of element-wise ops --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fold never changes a bit of a result: `x + 0.0` is not an identity, as it
// turns -0.0 into 0.0, but `x + -0.0`, `x - 0.0` and `x * 1.0` are. It never
// changes a shape (`isWholeResult`). And it never makes two values share memory
// if one of them is overwritten (`forward`).
//
//===----------------------------------------------------------------------===//

#include "Relax/Forwarding.h"
#include "Relax/Ops/Elementwise.h"
#include "Relax/Ops/SplatFold.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// `f(f(x))` is `f(x)`.
template <typename Op>
static OpFoldResult foldIdempotent(Op op) {
  if (op.getX().template getDefiningOp<Op>() &&
      op.getX().getType() == op.getType())
    return forward(op.getX(), op);
  return {};
}

/// `f(f(x))` is `x`.
template <typename Op>
static OpFoldResult foldInvolution(Op op) {
  auto inner = op.getX().template getDefiningOp<Op>();
  if (inner && inner.getX().getType() == op.getType())
    return forward(inner.getX(), op);
  return {};
}

/// Rounding is the identity on integers.
template <typename Op>
static OpFoldResult foldRounding(Op op) {
  if (!isFloat(op.getX()) && op.getX().getType() == op.getType())
    return forward(op.getX(), op);
  return foldIdempotent(op);
}

OpFoldResult CeilOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult FloorOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult RoundOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult TruncOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult SignOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldIdempotent(*this); }

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  Attribute x = adaptor.getX();
  if (Attribute constant = foldConstants(
          x, x, getType(),
          [](const APInt &value, const APInt &, bool isUnsigned) {
            return isUnsigned ? value : value.abs();
          },
          [](const APFloat &value, const APFloat &, bool) {
            return llvm::abs(value);
          }))
    return constant;
  return foldIdempotent(*this);
}

OpFoldResult NegativeOp::fold(FoldAdaptor adaptor) {
  Attribute x = adaptor.getX();
  if (Attribute constant = foldConstants(
          x, x, getType(),
          [](const auto &value, const auto &, bool) { return -value; }))
    return constant;
  return foldInvolution(*this);
}

template <typename Op>
static OpFoldResult foldNot(Op op, Attribute x) {
  if (Attribute constant = foldIntegers(
          x, x, op.getType(),
          [](const APInt &value, const APInt &, bool) { return ~value; }))
    return constant;
  return foldInvolution(op);
}

OpFoldResult BitwiseNotOp::fold(FoldAdaptor adaptor) {
  return foldNot(*this, adaptor.getX());
}
OpFoldResult LogicalNotOp::fold(FoldAdaptor adaptor) {
  return foldNot(*this, adaptor.getX());
}

/// Whether `to` represents every value of `from`, so that a round trip through
/// `to` is lossless.
static bool isExactConversion(Type from, Type to) {
  if (from == to)
    return true;
  if (auto source = dyn_cast<FloatType>(from)) {
    auto target = dyn_cast<FloatType>(to);
    return target && (source.isF16() || source.isBF16() || source.isF32()) &&
           ((target.isF32() && !source.isF32()) || target.isF64());
  }
  auto source = cast<IntegerType>(from);
  auto target = dyn_cast<IntegerType>(to);
  if (!target || target.isInteger(1))
    return false;
  if (source.isInteger(1))
    return true;
  return source.getSignedness() == target.getSignedness() &&
         source.getWidth() <= target.getWidth();
}

OpFoldResult AstypeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return forward(getX(), *this);
  auto inner = getX().getDefiningOp<AstypeOp>();
  if (!inner ||
      !isExactConversion(
          cast<TensorType>(inner.getX().getType()).getElementType(),
          inner.getDtype()) ||
      !canForward(inner.getX(), *this))
    return {};
  if (inner.getX().getType() == getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getResult();
}

/// `value` clamped to the bounds of `clip`.
static Attribute clampBound(Attribute value, ClipOp clip) {
  auto less = [&](Attribute a, Attribute b) {
    if (auto number = dyn_cast<FloatAttr>(a))
      return number.getValue() < cast<FloatAttr>(b).getValue();
    // Bounds are signed 64-bit numbers, whatever the elements are.
    return cast<IntegerAttr>(a).getInt() < cast<IntegerAttr>(b).getInt();
  };
  if (Attribute min = clip.getMinAttr(); min && less(value, min))
    value = min;
  if (Attribute max = clip.getMaxAttr(); max && less(max, value))
    value = max;
  return value;
}

OpFoldResult ClipOp::fold(FoldAdaptor) {
  if (!getMinAttr() && !getMaxAttr() && getX().getType() == getType())
    return forward(getX(), *this);
  auto inner = getX().getDefiningOp<ClipOp>();
  if (!inner || !canForward(inner.getX(), *this))
    return {};
  if (inner.getMinAttr() == getMinAttr() &&
      inner.getMaxAttr() == getMaxAttr() && inner.getType() == getType())
    return getX();
  // Two nonempty intervals merge into one: the inner bounds, clamped to the
  // outer ones.
  for (ClipOp clip : {inner, *this})
    if (!clip.getMinAttr() || !clip.getMaxAttr() ||
        clampBound(clip.getMinAttr(), clip) != clip.getMinAttr())
      return {};
  setMinAttr(clampBound(inner.getMinAttr(), *this));
  setMaxAttr(clampBound(inner.getMaxAttr(), *this));
  getXMutable().assign(inner.getX());
  return getResult();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Returns the other operand if one is `identity` everywhere.
template <typename Op>
static OpFoldResult foldIdentity(Op op, double identity, bool commutes) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (isAll(rhs, identity) && isWholeResult(lhs, rhs, op.getType()))
    return forward(lhs, op);
  if (commutes && isAll(lhs, identity) && isWholeResult(rhs, lhs, op.getType()))
    return forward(rhs, op);
  return {};
}

/// `f(x, x)` is `x`.
template <typename Op>
static OpFoldResult foldSame(Op op) {
  if (op.getLhs() == op.getRhs() && op.getLhs().getType() == op.getType())
    return forward(op.getLhs(), op);
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const auto &l, const auto &r, bool) { return l + r; }))
    return constant;
  return foldIdentity(*this, additiveIdentity(getLhs()), /*commutes=*/true);
}

OpFoldResult SubtractOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const auto &l, const auto &r, bool) { return l - r; }))
    return constant;
  // Floats are not folded, since x - x is NaN for infinities and NaN.
  if (getLhs() == getRhs() && !isFloat(getLhs()))
    if (Attribute zeros = getZeros(getType()))
      return zeros;
  return foldIdentity(*this, 0.0, /*commutes=*/false);
}

OpFoldResult MultiplyOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const auto &l, const auto &r, bool) { return l * r; }))
    return constant;
  return foldIdentity(*this, 1.0, /*commutes=*/true);
}

/// The quotient of two integers as kernels compute it: zero for division by
/// zero, wrapping around for the smallest integer divided by -1.
static APInt quotient(const APInt &l, const APInt &r, bool isUnsigned) {
  if (r.isZero())
    return r;
  return isUnsigned ? l.udiv(r) : l.sdiv(r);
}

OpFoldResult DivideOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(), quotient,
          [](const APFloat &l, const APFloat &r, bool) { return l / r; }))
    return constant;
  return foldIdentity(*this, 1.0, /*commutes=*/false);
}

OpFoldResult FloorDivideOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldIntegers(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            APInt rounded = quotient(l, r, isUnsigned);
            bool isInexact = !r.isZero() && rounded * r != l;
            if (!isUnsigned && isInexact && l.isNegative() != r.isNegative())
              --rounded;
            return rounded;
          }))
    return constant;
  // Rounds a float even for a divisor of one.
  return isFloat(getLhs()) ? OpFoldResult()
                           : foldIdentity(*this, 1.0, /*commutes=*/false);
}

OpFoldResult PowerOp::fold(FoldAdaptor) {
  return foldIdentity(*this, 1.0, /*commutes=*/false);
}

/// Which of 0 and -0 is greater depends on the target.
static bool isOpenZero(const APFloat &l, const APFloat &r) {
  return l.isZero() && r.isZero() && l.isNegative() != r.isNegative();
}

OpFoldResult MaximumOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            return isUnsigned ? llvm::APIntOps::umax(l, r)
                              : llvm::APIntOps::smax(l, r);
          },
          [](const APFloat &l, const APFloat &r, bool) {
            return isOpenZero(l, r) ? std::optional<APFloat>()
                                    : llvm::maximum(l, r);
          }))
    return constant;
  return foldSame(*this);
}

OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            return isUnsigned ? llvm::APIntOps::umin(l, r)
                              : llvm::APIntOps::smin(l, r);
          },
          [](const APFloat &l, const APFloat &r, bool) {
            return isOpenZero(l, r) ? std::optional<APFloat>()
                                    : llvm::minimum(l, r);
          }))
    return constant;
  return foldSame(*this);
}

//===----------------------------------------------------------------------===//
// Bits and logic
//===----------------------------------------------------------------------===//

/// A bitwise function; `identity` is 0 or -1 (all bits).
template <typename Op, typename Fn>
static OpFoldResult foldBits(Op op, typename Op::FoldAdaptor adaptor,
                             double identity, bool idempotent, Fn fn) {
  if (Attribute constant = foldIntegers(
          adaptor.getLhs(), adaptor.getRhs(), op.getType(),
          [&](const APInt &l, const APInt &r, bool) { return fn(l, r); }))
    return constant;
  if (idempotent)
    if (OpFoldResult same = foldSame(op))
      return same;
  return foldIdentity(op, identity, /*commutes=*/true);
}

OpFoldResult BitwiseAndOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, -1, /*idempotent=*/true,
                  [](const APInt &l, const APInt &r) { return l & r; });
}
OpFoldResult BitwiseOrOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, 0, /*idempotent=*/true,
                  [](const APInt &l, const APInt &r) { return l | r; });
}
OpFoldResult BitwiseXorOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, 0, /*idempotent=*/false,
                  [](const APInt &l, const APInt &r) { return l ^ r; });
}
OpFoldResult LogicalAndOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, -1, /*idempotent=*/true,
                  [](const APInt &l, const APInt &r) { return l & r; });
}
OpFoldResult LogicalOrOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, 0, /*idempotent=*/true,
                  [](const APInt &l, const APInt &r) { return l | r; });
}
OpFoldResult LogicalXorOp::fold(FoldAdaptor adaptor) {
  return foldBits(*this, adaptor, 0, /*idempotent=*/false,
                  [](const APInt &l, const APInt &r) { return l ^ r; });
}
OpFoldResult LeftShiftOp::fold(FoldAdaptor) {
  return foldIdentity(*this, 0.0, /*commutes=*/false);
}
OpFoldResult RightShiftOp::fold(FoldAdaptor) {
  return foldIdentity(*this, 0.0, /*commutes=*/false);
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

OpFoldResult EqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order == APFloat::cmpEqual;
  });
}
OpFoldResult NotEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order != APFloat::cmpEqual;
  });
}
OpFoldResult LessOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order == APFloat::cmpLessThan;
  });
}
OpFoldResult LessEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order == APFloat::cmpLessThan || order == APFloat::cmpEqual;
  });
}
OpFoldResult GreaterOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order == APFloat::cmpGreaterThan;
  });
}
OpFoldResult GreaterEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(*this, adaptor, [](APFloat::cmpResult order) {
    return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
  });
}

OpFoldResult WhereOp::fold(FoldAdaptor) {
  Value condition = getCondition(), x1 = getX1(), x2 = getX2();
  if (x1 == x2 && isWholeResult(x1, condition, getType()))
    return forward(x1, *this);
  Attribute splat = getSplat(condition);
  if (!splat)
    return {};
  bool isTrue = !cast<IntegerAttr>(splat).getValue().isZero();
  Value chosen = isTrue ? x1 : x2, other = isTrue ? x2 : x1;
  if (isWholeResult(chosen, {condition, other}, getType()))
    return forward(chosen, *this);
  return {};
}
