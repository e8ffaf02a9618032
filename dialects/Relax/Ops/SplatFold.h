//===- SplatFold.h - folding splat tensors ----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries about operands of folds: whether an operand has the broadcast result
// shape, and whether it is a splat. Constants are folded only if they are
// splats, so that folding is cheap and never makes a module larger.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_SPLATFOLD_H
#define RELAX_OPS_SPLATFOLD_H

#include "Relax/Ops/Create.h"
#include "mlir/IR/Matchers.h"

namespace mlir::relax {

//===----------------------------------------------------------------------===//
// Properties of operands
//===----------------------------------------------------------------------===//

/// Whether `x` has the type of an op's result, i.e. broadcasting it with
/// `others` does not change its shape.
inline bool isWholeResult(Value x, ArrayRef<Value> others, Type result) {
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
    // Known dimensions equal the result's, as the verifier has checked.
    for (auto [d, xd] : llvm::zip(llvm::reverse(dims), llvm::reverse(xDims)))
      if (!xd && !(d && d.isConstant(1)))
        return false;
  }
  return true;
}

/// `number` as an element; null if the type has no such value.
inline TypedAttr getNumber(Type type, double number) {
  if (isa<IntegerType>(type))
    return IntegerAttr::get(
        type, APInt(type.getIntOrFloatBitWidth(),
                    static_cast<uint64_t>(static_cast<int64_t>(number)),
                    /*isSigned=*/true, /*implicitTrunc=*/true));
  auto attribute = FloatAttr::get(type, number);
  return attribute.getValueAsDouble() == number ? attribute : FloatAttr();
}

/// The element that all elements of a tensor equal; null if unknown.
inline Attribute getSplat(Value value) {
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
inline bool isAll(Value value, double number) {
  Attribute splat = getSplat(value);
  if (!splat)
    return false;
  Type type = cast<TensorType>(value.getType()).getElementType();
  return splat == getNumber(type, number);
}

inline bool isFloat(Value value) {
  return isa<FloatType>(cast<TensorType>(value.getType()).getElementType());
}

/// The number whose addition leaves every x exactly unchanged.
inline double additiveIdentity(Value value) {
  return isFloat(value) ? -0.0 : 0.0;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

inline Attribute makeSplat(ShapedType type, const APInt &value) {
  return DenseElementsAttr::get(type, ArrayRef<APInt>(value));
}
inline Attribute makeSplat(ShapedType type, const APFloat &value) {
  return DenseElementsAttr::get(type, ArrayRef<APFloat>(value));
}
template <typename T>
Attribute makeSplat(ShapedType type, const std::optional<T> &value) {
  return value ? makeSplat(type, *value) : Attribute();
}

/// The constant splat `attribute`, unless it has no elements.
inline Attribute getConstantSplat(Attribute attribute) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  return elements && elements.isSplat() && !elements.empty()
             ? elements.getSplatValue<Attribute>()
             : Attribute();
}

/// The type of a constant that may replace the result; null if the shape is not
/// static.
inline RankedTensorType getConstantType(Type result) {
  auto type = dyn_cast<RankedTensorType>(result);
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// Float formats whose arithmetic is the same on all targets.
inline bool isStandardFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// Folds two splat constants. The functions take two values and whether they
/// are unsigned, and return a value, or an optional if the operation may be
/// undefined.
template <typename IntFn, typename FloatFn>
Attribute foldConstants(Attribute lhs, Attribute rhs, Type result, IntFn onInts,
                        FloatFn onFloats) {
  RankedTensorType type = getConstantType(result);
  Attribute l = getConstantSplat(lhs), r = getConstantSplat(rhs);
  if (!type || !l || !r)
    return {};
  if (auto number = dyn_cast<IntegerAttr>(l)) {
    Type element = number.getType();
    bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
    return makeSplat(type, onInts(number.getValue(),
                                  cast<IntegerAttr>(r).getValue(), isUnsigned));
  }
  if (!isStandardFloat(cast<FloatAttr>(l).getType()))
    return {};
  return makeSplat(type, onFloats(cast<FloatAttr>(l).getValue(),
                                  cast<FloatAttr>(r).getValue(), false));
}

/// The same, with one function for integers and floats.
template <typename Fn>
Attribute foldConstants(Attribute lhs, Attribute rhs, Type result, Fn fn) {
  return foldConstants(lhs, rhs, result, fn, fn);
}

/// The same for integers only.
template <typename Fn>
Attribute foldIntegers(Attribute lhs, Attribute rhs, Type result, Fn fn) {
  return foldConstants(lhs, rhs, result, fn,
                       [](const APFloat &, const APFloat &, bool) {
                         return std::optional<APFloat>();
                       });
}

/// Compares the splats of two constants.
template <typename Op>
Attribute foldComparison(Op op, typename Op::FoldAdaptor adaptor,
                         function_ref<bool(APFloat::cmpResult)> holds) {
  return foldConstants(
      adaptor.getLhs(), adaptor.getRhs(), op.getType(),
      [&](const APInt &l, const APInt &r, bool isUnsigned) {
        bool isLess = isUnsigned ? l.ult(r) : l.slt(r);
        return APInt(1, holds(l == r   ? APFloat::cmpEqual
                              : isLess ? APFloat::cmpLessThan
                                       : APFloat::cmpGreaterThan));
      },
      [&](const APFloat &l, const APFloat &r, bool) {
        return APInt(1, holds(l.compare(r)));
      });
}

/// A constant of zeros if the shape is static.
inline Attribute getZeros(Type result) {
  RankedTensorType type = getConstantType(result);
  return type ? DenseElementsAttr::get(type, ArrayRef<Attribute>(getNumber(
                                                 type.getElementType(), 0)))
              : Attribute();
}

} // namespace mlir::relax

#endif // RELAX_OPS_SPLATFOLD_H
