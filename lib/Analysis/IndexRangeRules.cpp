//===- IndexRangeRules.cpp - range rules of the individual ops ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule per op whose result can be bounded (see IndexRanges.cpp). A rule
// must hold for all elements as they are stored in memory.
//
//===----------------------------------------------------------------------===//

#include "Analysis/IndexRanges.h"

#include "Relax/Ops/Create.h"
#include "Relax/Ops/Elementwise.h"
#include "Relax/Ops/Index.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Ops/Memory.h"
#include "Relax/Ops/Reduction.h"
#include "Relax/Ops/Slice.h"
#include "Relax/Ops/Sort.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

/// Larger constants are not inspected.
static constexpr int64_t kMaxElements = int64_t(1) << 20;

/// The size of dimension `axis`, or the number of elements if `axis` is not
/// given; null if it is unknown.
static SymExprAttr getSize(Value tensor, std::optional<int64_t> axis,
                           SymBuilder &math) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return {};
  SymDims dims = getSymDims(type);
  if (!axis)
    return math.product(dims);
  int64_t rank = dims.size(), index = *axis < 0 ? *axis + rank : *axis;
  return index >= 0 && index < rank ? dims[index] : SymExprAttr();
}

IndexRange IndexRanges::ofConstant(ConstantOp op) {
  auto type = cast<ShapedType>(op.getType());
  auto element = cast<IntegerType>(type.getElementType());
  std::optional<int64_t> least, most;
  auto add = [&](int64_t value) {
    least = std::min(least.value_or(value), value);
    most = std::max(most.value_or(value), value);
  };
  if (auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue())) {
    if (dense.empty())
      return between(0, -1);
    if (!dense.isSplat() && dense.getNumElements() > kMaxElements)
      return {};
    bool isUnsigned = element.isUnsigned() || element.getWidth() == 1;
    auto addElement = [&](const APInt &value) {
      add(isUnsigned ? static_cast<int64_t>(value.getLimitedValue(INT64_MAX))
                     : value.getSExtValue());
    };
    if (element.getWidth() > 64 || (element.getWidth() == 64 && isUnsigned))
      return {};
    if (dense.isSplat())
      addElement(dense.getSplatValue<APInt>());
    else
      llvm::for_each(dense.getValues<APInt>(), addElement);
  } else if (auto resource =
                 dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || type.getNumElements() > kMaxElements)
      return {};
    auto addAll = [&](auto zero) {
      using T = decltype(zero);
      ArrayRef<char> data = blob->getData();
      for (; data.size() >= sizeof(T); data = data.drop_front(sizeof(T))) {
        T value;
        std::memcpy(&value, data.data(), sizeof(T));
        add(value);
      }
    };
    if (element.isSignlessInteger(32))
      addAll(int32_t());
    else if (element.isSignlessInteger(64))
      addAll(int64_t());
  }
  // INT64_MIN cannot be represented as an expression, so give up.
  if (!least || *least == INT64_MIN)
    return {};
  return between(*least, *most);
}

IndexRange IndexRanges::ofBranches(IfOp op, unsigned result) {
  IndexRange range;
  bool isFirst = true;
  for (Region &region : op->getRegions()) {
    IndexRange own = of(region.front().getTerminator()->getOperand(result));
    // Symbols of a branch are not visible outside, so keep only constant
    // bounds.
    auto toNumber = [&](SymExprAttr end, bool isUpper) -> SymExprAttr {
      SymInterval interval = prover.interval(end);
      std::optional<int64_t> value = isUpper ? interval.upper : interval.lower;
      return value ? number(*value) : SymExprAttr();
    };
    own = {toNumber(own.lower, false), toNumber(own.upper, true)};
    range = isFirst ? own : join(range, own);
    isFirst = false;
  }
  return range;
}

IndexRange IndexRanges::ofRemainder(IndexRange lhs, IndexRange rhs,
                                    bool hasSignOfDivisor) {
  // Only positive divisors are handled.
  if (!rhs.lower || !isAtLeast(rhs.lower, 1))
    return {};
  IndexRange range;
  if (rhs.upper)
    range.upper = math.sub(rhs.upper, number(1));
  bool isNotNegative = lhs.lower && isAtLeast(lhs.lower, 0);
  if (hasSignOfDivisor || isNotNegative)
    range.lower = number(0);
  else if (rhs.upper)
    range.lower = math.sub(number(1), rhs.upper);
  // The remainder is at most as far from 0 as the dividend.
  if (isNotNegative && lhs.upper)
    range.upper = range.upper ? math.min({range.upper, lhs.upper}) : lhs.upper;
  return range;
}

IndexRange IndexRanges::ofBinary(Operation *op, Type element) {
  IndexRange l = of(op->getOperand(0)), r = of(op->getOperand(1));
  bool isKnown = l.lower && l.upper && r.lower && r.upper;
  auto isNotNegative = [&](IndexRange range) {
    return range.lower && isAtLeast(range.lower, 0);
  };
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case([&](AddOp) {
        return ifFits({math.add(l.lower, r.lower), math.add(l.upper, r.upper)},
                      element);
      })
      .Case([&](SubtractOp) {
        return ifFits({math.sub(l.lower, r.upper), math.sub(l.upper, r.lower)},
                      element);
      })
      .Case([&](MultiplyOp) -> IndexRange {
        if (!isKnown)
          return {};
        if (isNotNegative(l) && isNotNegative(r))
          return ifFits(
              {math.mul(l.lower, r.lower), math.mul(l.upper, r.upper)},
              element);
        SmallVector<SymExprAttr> corners;
        for (SymExprAttr one : {l.lower, l.upper})
          for (SymExprAttr other : {r.lower, r.upper})
            corners.push_back(math.mul(one, other));
        if (llvm::is_contained(corners, SymExprAttr()))
          return {};
        return ifFits({math.min(corners), math.max(corners)}, element);
      })
      .Case([&](MaximumOp) {
        IndexRange range;
        if (l.upper && r.upper)
          range.upper = math.max({l.upper, r.upper});
        range.lower = !l.lower   ? r.lower
                      : !r.lower ? l.lower
                                 : math.max({l.lower, r.lower});
        return range;
      })
      .Case([&](MinimumOp) {
        IndexRange range;
        if (l.lower && r.lower)
          range.lower = math.min({l.lower, r.lower});
        range.upper = !l.upper   ? r.upper
                      : !r.upper ? l.upper
                                 : math.min({l.upper, r.upper});
        return range;
      })
      .Case([&](FloorModOp) {
        return ofRemainder(l, r, /*hasSignOfDivisor=*/true);
      })
      .Case(
          [&](ModOp) { return ofRemainder(l, r, /*hasSignOfDivisor=*/false); })
      // Dividing a nonnegative value by a positive one does not increase it.
      .Case<DivideOp, FloorDivideOp>([&](auto) -> IndexRange {
        if (!isNotNegative(l) || !r.lower || !isAtLeast(r.lower, 1))
          return {};
        SymExprAttr upper = l.upper;
        if (upper && r.lower == r.upper && r.lower.isConstant())
          upper = math.floordiv(upper, r.lower);
        return {number(0), upper};
      })
      .Case([&](BitwiseAndOp) -> IndexRange {
        IndexRange range;
        for (IndexRange side : {l, r})
          if (isNotNegative(side)) {
            range.lower = number(0);
            if (side.upper)
              range.upper = range.upper ? math.min({range.upper, side.upper})
                                        : side.upper;
          }
        return range;
      })
      .Default([](Operation *) { return IndexRange(); });
}

IndexRange IndexRanges::compute(Value tensor) {
  auto result = dyn_cast<OpResult>(tensor);
  return result ? computeResult(result.getOwner(), result.getResultNumber())
                : IndexRange();
}

/// An op that makes a tensor from numbers.
IndexRange IndexRanges::ofCreated(Operation *op, Type element) {
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case([&](ConstantOp op) { return ofConstant(op); })
      .Case([&](ArangeOp op) -> IndexRange {
        SymExprAttr start = op.getStart(), stop = op.getStop(), one = number(1);
        IndexRange range;
        if (isAtLeast(op.getStep(), 1))
          range = {start, math.sub(stop, one)};
        else if (isAtLeast(math.neg(op.getStep()), 1))
          range = {math.add(stop, one), start};
        // The elements fit in 64 bits.
        return element.isSignlessInteger(64) ? range
                                             : converted(range, element);
      })
      .Case<ZerosOp, ZerosLikeOp>([&](auto) { return between(0, 0); })
      .Case<OnesOp, OnesLikeOp>([&](auto) { return between(1, 1); })
      .Case([&](EyeOp) { return between(0, 1); })
      .Case<FullOp, FullLikeOp>(
          [&](auto op) { return converted(of(op.getFillValue()), element); })
      .Case([&](OneHotOp op) -> IndexRange {
        auto on = dyn_cast<IntegerAttr>(op.getOnValue()),
             off = dyn_cast<IntegerAttr>(op.getOffValue());
        if (!on || !off || !element.isSignlessInteger() ||
            element.isInteger(1) || element.getIntOrFloatBitWidth() > 64)
          return {};
        return join(between(on.getInt(), on.getInt()),
                    between(off.getInt(), off.getInt()));
      })
      .Default([](Operation *) { return IndexRange(); });
}

/// An op that finds positions, counts or sizes.
IndexRange IndexRanges::ofFound(Operation *op, unsigned index, Type element) {
  auto indicesOf = [&](Value x, std::optional<int64_t> axis) {
    IndexRange range = below(getSize(x, axis, math));
    // Tensor sizes are 64-bit numbers.
    return element.getIntOrFloatBitWidth() >= 64 ? range
                                                 : ifFits(range, element);
  };
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case<ArgmaxOp, ArgminOp>(
          [&](auto op) { return indicesOf(op.getX(), op.getAxis()); })
      .Case([&](ArgsortOp op) { return indicesOf(op.getData(), op.getAxis()); })
      .Case([&](TopkOp op) {
        bool isValues = op.getRetType() == "values" ||
                        (op.getRetType() == "both" && index == 0);
        return isValues ? of(op.getData())
                        : indicesOf(op.getData(), op.getAxis());
      })
      .Case([&](NonzeroOp op) -> IndexRange {
        auto type = dyn_cast<RankedTensorType>(op.getX().getType());
        if (!type || type.getRank() == 0)
          return {};
        SymDims dims = getSymDims(type);
        if (llvm::is_contained(dims, SymExprAttr()))
          return {};
        return below(math.max(dims));
      })
      .Case([&](UniqueOp op) -> IndexRange {
        if (index == 0)
          return of(op.getX());
        unsigned counts = op->getNumResults() - 1;
        IndexRange range = below(getSize(op.getX(), op.getAxis(), math));
        if (op.getReturnCounts() && index == counts)
          return {number(1), math.add(range.upper, number(1))};
        return range;
      })
      .Case([&](BucketizeOp op) -> IndexRange {
        SymExprAttr size = getSize(op.getBoundaries(), 0, math);
        return element.getIntOrFloatBitWidth() >= 64
                   ? IndexRange{number(0), size}
                   : ifFits({number(0), size}, element);
      })
      .Case([&](ShapeToTensorOp op) -> IndexRange {
        auto shape = cast<ShapeType>(op.getInput().getType());
        if (!shape.getRanked() || shape.getDims().empty())
          return {};
        IndexRange range;
        bool isFirst = true;
        for (SymExprAttr dim : shape.getDims()) {
          IndexRange own =
              dim ? IndexRange{dim, dim} : IndexRange{number(0), SymExprAttr()};
          range = isFirst ? own : join(range, own);
          isFirst = false;
        }
        return range;
      })
      .Default([](Operation *) { return IndexRange(); });
}

IndexRange IndexRanges::ofUnary(Operation *op, Type element) {
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case([&](ClipOp op) {
        IndexRange range = of(op.getX());
        auto least = dyn_cast_or_null<IntegerAttr>(op.getMinAttr()),
             most = dyn_cast_or_null<IntegerAttr>(op.getMaxAttr());
        if (least) {
          SymExprAttr end = number(least.getInt());
          range.lower = range.lower ? math.max({range.lower, end}) : end;
          if (range.upper)
            range.upper = math.max({range.upper, end});
        }
        if (most) {
          SymExprAttr end = number(most.getInt());
          range.upper = range.upper ? math.min({range.upper, end}) : end;
          if (range.lower)
            range.lower = math.min({range.lower, end});
        }
        return range;
      })
      .Case([&](NegativeOp op) {
        IndexRange range = of(op.getX());
        return ifFits({math.neg(range.upper), math.neg(range.lower)}, element);
      })
      .Case([&](AbsOp op) -> IndexRange {
        IndexRange range = of(op.getX());
        if (!range.lower || !range.upper)
          return {};
        if (isAtLeast(range.lower, 0))
          return range;
        return ifFits(
            {number(0), math.max({math.neg(range.lower), range.upper})},
            element);
      })
      .Case([&](SignOp) { return between(-1, 1); })
      .Default([](Operation *) { return IndexRange(); });
}

IndexRange IndexRanges::computeResult(Operation *op, unsigned index) {
  Type element =
      cast<TensorType>(op->getResult(index).getType()).getElementType();
  return llvm::TypeSwitch<Operation *, IndexRange>(op)
      .Case<ConstantOp, ArangeOp, ZerosOp, ZerosLikeOp, OnesOp, OnesLikeOp,
            EyeOp, FullOp, FullLikeOp, OneHotOp>(
          [&](Operation *op) { return ofCreated(op, element); })
      .Case<ArgmaxOp, ArgminOp, ArgsortOp, TopkOp, NonzeroOp, UniqueOp,
            BucketizeOp, ShapeToTensorOp>(
          [&](Operation *op) { return ofFound(op, index, element); })
      .Case<ClipOp, NegativeOp, AbsOp, SignOp>(
          [&](Operation *op) { return ofUnary(op, element); })
      .Case([&](AstypeOp op) { return converted(of(op.getX()), element); })
      // Rearranged elements of the operand.
      .Case<ReshapeOp, BroadcastToOp, FlattenOp, PermuteDimsOp, ExpandDimsOp,
            SqueezeOp, SplitOp, RepeatOp, TileOp, FlipOp, ReverseSequenceOp,
            StridedSliceOp, DynamicStridedSliceOp, SortOp, MaxOp, MinOp, TakeOp,
            GatherElementsOp, GatherNDOp, IndexTensorOp, MatchCastOp,
            ToDeviceOp>([&](Operation *op) { return of(op->getOperand(0)); })
      .Case<ConcatOp, StackOp>(
          [&](Operation *op) { return ofOperands(op->getOperands()); })
      .Case([&](MeshgridOp op) { return of(op->getOperand(index)); })
      .Case<TrilOp, TriuOp>(
          [&](auto op) { return join(of(op.getX()), between(0, 0)); })
      .Case([&](WhereOp op) { return join(of(op.getX1()), of(op.getX2())); })
      .Case([&](SliceScatterOp op) {
        return join(of(op.getInput()), of(op.getSrc()));
      })
      .Case<ScatterElementsOp, ScatterNDOp>([&](auto op) -> IndexRange {
        if (op.getReduction() == "add" || op.getReduction() == "mul")
          return {};
        return join(of(op.getData()), of(op.getUpdates()));
      })
      .Case([&](IndexPutOp op) -> IndexRange {
        if (op.getAccumulate())
          return {};
        return join(of(op.getData()), of(op.getValues()));
      })
      // Forwarded values.
      .Case([&](GetOp op) -> IndexRange {
        auto tuple = op.getInput().getDefiningOp<TupleOp>();
        return tuple ? of(tuple->getOperand(op.getIndex())) : IndexRange();
      })
      .Case([&](DataflowOp op) {
        return of(op.getBody().front().getTerminator()->getOperand(index));
      })
      .Case([&](IfOp op) { return ofBranches(op, index); })
      .Default([&](Operation *op) -> IndexRange {
        if (op->getNumOperands() == 2 && op->getNumResults() == 1 &&
            isa_and_nonnull<RelaxDialect>(op->getDialect()))
          return ofBinary(op, element);
        return {};
      });
}
