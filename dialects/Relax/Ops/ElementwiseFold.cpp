//===- ElementwiseFold.cpp - folds of element-wise ops ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fold never changes a bit of a result: `x + 0.0` is no identity, as it turns
// -0.0 into 0.0, but `x + -0.0`, `x - 0.0` and `x * 1.0` are. And it never
// changes a shape: an operand may stand for the result only if it has its type
// and the other operands cannot make it larger by broadcasting.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Elementwise.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// What operands are
//===----------------------------------------------------------------------===//

/// Whether `x` has the shape and the type of what an op makes of it and `others`
/// by broadcasting.
static bool isWholeResult(Value x, ArrayRef<Value> others, Type result) {
  if (x.getType() != result)
    return false;
  auto type = dyn_cast<RankedTensorType>(result);
  for (Value other : others) {
    auto otherType = dyn_cast<RankedTensorType>(other.getType());
    if (!otherType)
      return false;
    SymDims dims = getSymDims(otherType);
    if (!type) {
      if (!dims.empty())
        return false; // an unranked x may have any rank
      continue;
    }
    SymDims xDims = getSymDims(type);
    if (dims.size() > xDims.size())
      return false;
    // A known dimension is that of the result, which the verifier compared.
    for (auto [d, xd] : llvm::zip(llvm::reverse(dims), llvm::reverse(xDims)))
      if (!xd && !(d && d.isConstant(1)))
        return false;
  }
  return true;
}

/// `number` as an element; null if the type has no such value.
static TypedAttr getNumber(Type type, double number) {
  if (isa<IntegerType>(type))
    return IntegerAttr::get(
        type, APInt(type.getIntOrFloatBitWidth(),
                    static_cast<uint64_t>(static_cast<int64_t>(number)),
                    /*isSigned=*/true, /*implicitTrunc=*/true));
  auto attribute = FloatAttr::get(type, number);
  return attribute.getValueAsDouble() == number ? attribute : FloatAttr();
}

/// The element that all of a tensor are; null if they differ or are unknown.
static Attribute getSplat(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  DenseElementsAttr elements;
  if (matchPattern(op, m_Constant(&elements)))
    return !elements.empty() && elements.isSplat()
               ? elements.getSplatValue<Attribute>()
               : Attribute();
  Type type = cast<TensorType>(value.getType()).getElementType();
  if (isa<ZerosOp, ZerosLikeOp>(op))
    return getNumber(type, 0.0);
  if (isa<OnesOp, OnesLikeOp>(op))
    return getNumber(type, 1.0);
  Value fill;
  if (auto full = dyn_cast<FullOp>(op))
    fill = full.getFillValue();
  else if (auto full = dyn_cast<FullLikeOp>(op))
    fill = full.getFillValue();
  if (!fill || cast<TensorType>(fill.getType()).getElementType() != type)
    return {};
  return matchPattern(fill, m_Constant(&elements)) && !elements.empty() &&
                 elements.isSplat()
             ? elements.getSplatValue<Attribute>()
             : Attribute();
}

/// Whether every element of `value` is exactly `number` (0.0 is not -0.0).
static bool isAll(Value value, double number) {
  Attribute splat = getSplat(value);
  if (!splat)
    return false;
  Type type = cast<TensorType>(value.getType()).getElementType();
  return splat == getNumber(type, number);
}

static bool isFloat(Value value) {
  return isa<FloatType>(cast<TensorType>(value.getType()).getElementType());
}

/// What x must be added to to stay exactly what it is.
static double additiveIdentity(Value value) {
  return isFloat(value) ? -0.0 : 0.0;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Attribute makeSplat(ShapedType type, std::optional<APInt> value) {
  return value ? DenseElementsAttr::get(type, ArrayRef<APInt>(*value))
               : Attribute();
}
static Attribute makeSplat(ShapedType type, std::optional<APFloat> value) {
  return value ? DenseElementsAttr::get(type, ArrayRef<APFloat>(*value))
               : Attribute();
}

/// The constant splat `attribute`, unless it has no elements.
static Attribute getConstantSplat(Attribute attribute) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  return elements && elements.isSplat() && !elements.empty()
             ? elements.getSplatValue<Attribute>()
             : Attribute();
}

/// The type of a constant that may stand for the result; null where the shape is
/// not static.
static RankedTensorType getConstantType(Type result) {
  auto type = dyn_cast<RankedTensorType>(result);
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// Computes with the splats of two constants. The functions give an APInt or an
/// APFloat, optional where the operation may be undefined.
template <typename IntFn, typename FloatFn>
static Attribute foldConstants(Attribute lhs, Attribute rhs, Type result,
                               IntFn onInts, FloatFn onFloats) {
  RankedTensorType type = getConstantType(result);
  Attribute l = getConstantSplat(lhs), r = getConstantSplat(rhs);
  if (!type || !l || !r)
    return {};
  if (auto li = dyn_cast<IntegerAttr>(l)) {
    bool isUnsigned =
        li.getType().isUnsignedInteger() || li.getType().isInteger(1);
    return makeSplat(type, onInts(li.getValue(),
                                  cast<IntegerAttr>(r).getValue(), isUnsigned));
  }
  return makeSplat(type, onFloats(cast<FloatAttr>(l).getValue(),
                                  cast<FloatAttr>(r).getValue()));
}

template <typename IntFn>
static Attribute foldConstants(Attribute lhs, Attribute rhs, Type result,
                               IntFn onInts) {
  return foldConstants(
      lhs, rhs, result, onInts,
      [](const APFloat &, const APFloat &) { return std::optional<APFloat>(); });
}

/// The same for one operand.
template <typename IntFn, typename FloatFn>
static Attribute foldConstant(Attribute x, Type result, IntFn onInt,
                              FloatFn onFloat) {
  return foldConstants(
      x, x, result,
      [&](const APInt &value, const APInt &, bool isUnsigned) {
        return std::optional<APInt>(onInt(value, isUnsigned));
      },
      [&](const APFloat &value, const APFloat &) {
        return std::optional<APFloat>(onFloat(value));
      });
}

/// Compares the splats of two constants.
template <typename IntFn, typename FloatFn>
static Attribute foldComparison(Attribute lhs, Attribute rhs, Type result,
                                IntFn onInts, FloatFn onFloats) {
  return foldConstants(
      lhs, rhs, result,
      [&](const APInt &l, const APInt &r, bool isUnsigned) {
        return std::optional<APInt>(APInt(1, onInts(l, r, isUnsigned)));
      },
      [&](const APFloat &l, const APFloat &r) {
        return std::optional<APInt>(APInt(1, onFloats(l.compare(r))));
      });
}

/// A constant of zeros, where the shape is static.
static Attribute getZeros(Type result) {
  RankedTensorType type = getConstantType(result);
  return type ? DenseElementsAttr::get(
                    type, ArrayRef<Attribute>(getNumber(type.getElementType(), 0)))
              : Attribute();
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// `f(f(x))` is `f(x)`.
template <typename Op>
static OpFoldResult foldIdempotent(Op op) {
  if (op.getX().template getDefiningOp<Op>() &&
      op.getX().getType() == op.getType())
    return op.getX();
  return {};
}

/// `f(f(x))` is `x`.
template <typename Op>
static OpFoldResult foldInvolution(Op op) {
  auto inner = op.getX().template getDefiningOp<Op>();
  if (inner && inner.getX().getType() == op.getType())
    return inner.getX();
  return {};
}

/// Rounding does nothing to integers.
template <typename Op>
static OpFoldResult foldRounding(Op op) {
  if (!isFloat(op.getX()) && op.getX().getType() == op.getType())
    return op.getX();
  return foldIdempotent(op);
}

OpFoldResult CeilOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult FloorOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult RoundOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult TruncOp::fold(FoldAdaptor) { return foldRounding(*this); }
OpFoldResult SignOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldIdempotent(*this); }

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstant(
          adaptor.getX(), getType(),
          [](const APInt &value, bool isUnsigned) {
            return isUnsigned ? value : value.abs();
          },
          [](const APFloat &value) { return llvm::abs(value); }))
    return constant;
  return foldIdempotent(*this);
}

OpFoldResult NegativeOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstant(
          adaptor.getX(), getType(),
          [](const APInt &value, bool) { return -value; },
          [](const APFloat &value) { return llvm::neg(value); }))
    return constant;
  return foldInvolution(*this);
}

template <typename Op>
static OpFoldResult foldNot(Op op, Attribute x) {
  if (Attribute constant =
          foldConstants(x, x, op.getType(),
                        [](const APInt &value, const APInt &, bool) {
                          return std::optional<APInt>(~value);
                        }))
    return constant;
  return foldInvolution(op);
}

OpFoldResult BitwiseNotOp::fold(FoldAdaptor adaptor) {
  return foldNot(*this, adaptor.getX());
}
OpFoldResult LogicalNotOp::fold(FoldAdaptor adaptor) {
  return foldNot(*this, adaptor.getX());
}

/// Whether every value of `from` is one of `to`, so that a detour through `to`
/// loses nothing.
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
    return getX();
  auto inner = getX().getDefiningOp<AstypeOp>();
  if (!inner || !isExactConversion(
                    cast<TensorType>(inner.getX().getType()).getElementType(),
                    inner.getDtype()))
    return {};
  if (inner.getX().getType() == getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getResult();
}

/// `value` limited by the bounds of `clip`.
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
    return getX();
  auto inner = getX().getDefiningOp<ClipOp>();
  if (!inner)
    return {};
  if (inner.getMinAttr() == getMinAttr() && inner.getMaxAttr() == getMaxAttr() &&
      inner.getType() == getType())
    return getX();
  // Two intervals, each not empty, are one: that of the inner bounds, limited by
  // the outer ones.
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

/// The operand that is left if the other is `identity` everywhere.
template <typename Op>
static OpFoldResult foldIdentity(Op op, double identity, bool commutes) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (isAll(rhs, identity) && isWholeResult(lhs, rhs, op.getType()))
    return lhs;
  if (commutes && isAll(lhs, identity) &&
      isWholeResult(rhs, lhs, op.getType()))
    return rhs;
  return {};
}

/// `f(x, x)` is `x`.
template <typename Op>
static OpFoldResult foldSame(Op op) {
  if (op.getLhs() == op.getRhs() && op.getLhs().getType() == op.getType())
    return op.getLhs();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool) {
            return std::optional<APInt>(l + r);
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(l + r);
          }))
    return constant;
  return foldIdentity(*this, additiveIdentity(getLhs()), /*commutes=*/true);
}

OpFoldResult SubtractOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool) {
            return std::optional<APInt>(l - r);
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(l - r);
          }))
    return constant;
  // Not for floats: infinity and NaN have no difference.
  if (getLhs() == getRhs() && !isFloat(getLhs()))
    if (Attribute zeros = getZeros(getType()))
      return zeros;
  return foldIdentity(*this, 0.0, /*commutes=*/false);
}

OpFoldResult MultiplyOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool) {
            return std::optional<APInt>(l * r);
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(l * r);
          }))
    return constant;
  return foldIdentity(*this, 1.0, /*commutes=*/true);
}

/// Whether an integer quotient is undefined or leaves the type.
static bool isBadDivision(const APInt &l, const APInt &r, bool isUnsigned) {
  return r.isZero() || (!isUnsigned && r.isAllOnes() && l.isMinSignedValue());
}

OpFoldResult DivideOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            if (isBadDivision(l, r, isUnsigned))
              return std::optional<APInt>();
            return std::optional<APInt>(isUnsigned ? l.udiv(r) : l.sdiv(r));
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(l / r);
          }))
    return constant;
  return foldIdentity(*this, 1.0, /*commutes=*/false);
}

OpFoldResult FloorDivideOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            if (isBadDivision(l, r, isUnsigned))
              return std::optional<APInt>();
            if (isUnsigned)
              return std::optional<APInt>(l.udiv(r));
            return std::optional<APInt>(
                llvm::APIntOps::RoundingSDiv(l, r, APInt::Rounding::DOWN));
          }))
    return constant;
  // A float is rounded even by one.
  return isFloat(getLhs()) ? OpFoldResult()
                           : foldIdentity(*this, 1.0, /*commutes=*/false);
}

OpFoldResult PowerOp::fold(FoldAdaptor) {
  return foldIdentity(*this, 1.0, /*commutes=*/false);
}

OpFoldResult MaximumOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            return std::optional<APInt>(isUnsigned
                                            ? llvm::APIntOps::umax(l, r)
                                            : llvm::APIntOps::smax(l, r));
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(llvm::maximum(l, r));
          }))
    return constant;
  return foldSame(*this);
}

OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), getType(),
          [](const APInt &l, const APInt &r, bool isUnsigned) {
            return std::optional<APInt>(isUnsigned
                                            ? llvm::APIntOps::umin(l, r)
                                            : llvm::APIntOps::smin(l, r));
          },
          [](const APFloat &l, const APFloat &r) {
            return std::optional<APFloat>(llvm::minimum(l, r));
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
  if (Attribute constant = foldConstants(
          adaptor.getLhs(), adaptor.getRhs(), op.getType(),
          [&](const APInt &l, const APInt &r, bool) {
            return std::optional<APInt>(fn(l, r));
          }))
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
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool) { return l == r; },
      [](APFloat::cmpResult order) { return order == APFloat::cmpEqual; });
}
OpFoldResult NotEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool) { return l != r; },
      [](APFloat::cmpResult order) { return order != APFloat::cmpEqual; });
}
OpFoldResult LessOp::fold(FoldAdaptor adaptor) {
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool isUnsigned) {
        return isUnsigned ? l.ult(r) : l.slt(r);
      },
      [](APFloat::cmpResult order) { return order == APFloat::cmpLessThan; });
}
OpFoldResult LessEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool isUnsigned) {
        return isUnsigned ? l.ule(r) : l.sle(r);
      },
      [](APFloat::cmpResult order) {
        return order == APFloat::cmpLessThan || order == APFloat::cmpEqual;
      });
}
OpFoldResult GreaterOp::fold(FoldAdaptor adaptor) {
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool isUnsigned) {
        return isUnsigned ? l.ugt(r) : l.sgt(r);
      },
      [](APFloat::cmpResult order) {
        return order == APFloat::cmpGreaterThan;
      });
}
OpFoldResult GreaterEqualOp::fold(FoldAdaptor adaptor) {
  return foldComparison(
      adaptor.getLhs(), adaptor.getRhs(), getType(),
      [](const APInt &l, const APInt &r, bool isUnsigned) {
        return isUnsigned ? l.uge(r) : l.sge(r);
      },
      [](APFloat::cmpResult order) {
        return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
      });
}

OpFoldResult WhereOp::fold(FoldAdaptor) {
  Value condition = getCondition(), x1 = getX1(), x2 = getX2();
  if (x1 == x2 && isWholeResult(x1, condition, getType()))
    return x1;
  Attribute splat = getSplat(condition);
  if (!splat)
    return {};
  bool isTrue = !cast<IntegerAttr>(splat).getValue().isZero();
  Value chosen = isTrue ? x1 : x2, other = isTrue ? x2 : x1;
  if (isWholeResult(chosen, {condition, other}, getType()))
    return chosen;
  return {};
}
