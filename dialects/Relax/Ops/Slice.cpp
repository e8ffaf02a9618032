//===- Slice.cpp - parts of tensors ---------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size of a Python slice [b:e:s] of a dimension d is, with positions
// clamped to the dimension,
//
//   s > 0    max(0, (e' - b') ceildiv s)       b', e' in [0, d]
//   s < 0    max(0, (b' - e') ceildiv -s)      b', e' in [-1, d - 1]
//
// Only one end of each position needs to be clamped: a begin beyond the last
// element or an end before the first one already makes the difference negative,
// and so the slice empty. That keeps symbolic sizes short:
//
//   x[1:]    max(0, d - 1)      x[:h]     min(d, h)
//   x[-k:]   min(d, k)          x[:-k]    max(0, d - k)
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Slice.h"
#include "Relax/IntegerElements.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Slice.cpp.inc"

void RelaxDialect::registerSliceOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Slice.cpp.inc"
      >();
}

static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

//===----------------------------------------------------------------------===//
// The size of a slice
//===----------------------------------------------------------------------===//

/// Python's rule, for constants.
static int64_t getSliceSize(int64_t dim, int64_t begin, int64_t end,
                            int64_t stride) {
  using Wide = __int128;
  Wide first = stride > 0 ? 0 : -1;
  auto move = [&](Wide position) {
    if (position < 0)
      position += dim;
    return std::clamp<Wide>(position, first, first + dim);
  };
  Wide distance =
      stride > 0 ? move(end) - move(begin) : move(begin) - move(end);
  Wide step = stride > 0 ? Wide(stride) : -Wide(stride);
  return distance <= 0 ? 0 : static_cast<int64_t>((distance + step - 1) / step);
}

namespace {

/// Symbolic sizes. The builder emits no diagnostics: if an expression does not
/// fit in 64 bits, the size counts as unknown.
class SliceSize {
public:
  SliceSize(MLIRContext *context, const Prover &prover, SymExprAttr dim)
      : math(context), prover(prover), dim(dim), zero(math.constant(0)) {}

  SymExprAttr get(SymExprAttr begin, SymExprAttr end, int64_t stride) {
    std::optional<bool> beginFromEnd = isNegative(begin);
    std::optional<bool> endFromEnd = isNegative(end);
    if (!beginFromEnd || !endFromEnd)
      return {};
    // Positions from the same end in the wrong order: empty.
    if (*beginFromEnd == *endFromEnd &&
        (stride > 0 ? isLessEqual(end, begin) : isLessEqual(begin, end)))
      return zero;
    if (!dim)
      return {};
    SymExprAttr distance =
        stride > 0 ? getForward(begin, *beginFromEnd, end, *endFromEnd)
                   : getBackward(begin, *beginFromEnd, end, *endFromEnd);
    if (!distance || stride == 1 || stride == -1)
      return distance;
    return math.ceildiv(distance, math.constant(stride > 0 ? stride : -stride));
  }

private:
  std::optional<bool> isNegative(SymExprAttr value) const {
    if (value.isConstant())
      return value.getValue() < 0;
    if (value == dim || prover.lessEqual(zero, value) == Truth::Yes)
      return false;
    if (prover.less(value, zero) == Truth::Yes)
      return true;
    return std::nullopt;
  }
  bool isLessEqual(SymExprAttr lhs, SymExprAttr rhs) const {
    if (lhs.isConstant() && rhs.isConstant())
      return lhs.getValue() <= rhs.getValue();
    return lhs == rhs || prover.lessEqual(lhs, rhs) == Truth::Yes;
  }
  SymExprAttr getMin(SymExprAttr lhs, SymExprAttr rhs) {
    if (!lhs || !rhs)
      return {};
    if (isLessEqual(lhs, rhs) || isSliceEnd(rhs))
      return lhs;
    if (isLessEqual(rhs, lhs) || isSliceEnd(lhs))
      return rhs;
    return math.min({lhs, rhs});
  }
  /// max(0, value), which is `value` if it is known to be non-negative.
  SymExprAttr clampAtZero(SymExprAttr value) {
    if (!value || value == dim || isLessEqual(zero, value))
      return value;
    return isLessEqual(value, zero) ? zero : math.max({zero, value});
  }

  SymExprAttr getForward(SymExprAttr begin, bool beginFromEnd, SymExprAttr end,
                         bool endFromEnd) {
    SymExprAttr last = endFromEnd ? math.add(dim, end) : getMin(dim, end);
    if (beginFromEnd) {
      if (last == dim) // the last -begin elements
        return getMin(dim, math.neg(begin));
      return clampAtZero(math.sub(last, clampAtZero(math.add(dim, begin))));
    }
    if (begin == zero && !endFromEnd)
      return last; // both operands of the minimum are at least zero
    return clampAtZero(math.sub(last, begin));
  }

  SymExprAttr getBackward(SymExprAttr begin, bool beginFromEnd, SymExprAttr end,
                          bool endFromEnd) {
    SymExprAttr one = math.constant(1), minusOne = math.constant(-1);
    SymExprAttr top = math.sub(dim, one);
    SymExprAttr first =
        beginFromEnd ? math.add(dim, begin) : getMin(top, begin);
    SymExprAttr last = end;
    if (endFromEnd && end.isConstant(-kEnd))
      last = minusOne;
    else if (endFromEnd)
      last = math.sub(clampAtZero(math.add(math.add(dim, end), one)), one);
    return clampAtZero(math.sub(first, last));
  }

  SymBuilder math;
  const Prover &prover;
  SymExprAttr dim, zero;
};

} // namespace

FailureOr<SymExprAttr>
relax::deduceSliceSize(Deduction &deduction, SymExprAttr dim, SymExprAttr begin,
                       SymExprAttr end, SymExprAttr stride) {
  if (deduction.prover().equal(stride, deduction.constant(0)) == Truth::Yes)
    return deduction.emitError() << "a stride must not be 0";
  if (!begin || !end || !stride || !stride.isConstant())
    return SymExprAttr();
  if (dim && dim.isConstant() && begin.isConstant() && end.isConstant())
    return deduction.constant(getSliceSize(dim.getValue(), begin.getValue(),
                                           end.getValue(), stride.getValue()));
  return SliceSize(deduction.getContext(), deduction.prover(), dim)
      .get(begin, end, stride.getValue());
}

//===----------------------------------------------------------------------===//
// StridedSliceOp
//===----------------------------------------------------------------------===//

/// The size of a slice whose positions are promised to be in range.
static FailureOr<SymExprAttr>
deduceInboundSize(Deduction &deduction, int64_t axis, SymExprAttr dim,
                  SymExprAttr begin, SymExprAttr end, SymExprAttr stride) {
  const Prover &prover = deduction.prover();
  SymExprAttr zero = deduction.constant(0);
  if (prover.less(zero, stride) != Truth::Yes &&
      !(stride.isConstant() && stride.getValue() > 0))
    return deduction.emitError()
           << "assume_inbound needs positive strides, got " << describe(stride)
           << " for dimension " << axis;
  SymBuilder &math = deduction.math();
  auto resolve = [&](SymExprAttr position) {
    if (isSliceEnd(position))
      return dim;
    bool fromEnd = position.isConstant()
                       ? position.getValue() < 0
                       : prover.less(position, zero) == Truth::Yes;
    return fromEnd ? math.add(dim, position) : position;
  };
  SymExprAttr first = resolve(begin), last = resolve(end);
  if (math.failed())
    return failure();
  auto isBelow = [&](SymExprAttr lhs, SymExprAttr rhs) {
    if (lhs && rhs && lhs.isConstant() && rhs.isConstant())
      return lhs.getValue() < rhs.getValue();
    return prover.less(lhs, rhs) == Truth::Yes;
  };
  if (isBelow(first, zero) || isBelow(last, first) || isBelow(dim, last))
    return deduction.emitError()
           << "assume_inbound does not hold: begin " << describe(begin)
           << " and end " << describe(end) << " of dimension " << axis
           << ", which is " << describe(dim);
  return math.ceildiv(math.sub(last, first), stride);
}

LogicalResult StridedSliceOp::deduce(Deduction &deduction, Adaptor op,
                                     SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  size_t count = op.getAxes().size();
  SmallVector<SymExprAttr> begin = getSymExprs(op.getBegin()),
                           end = getSymExprs(op.getEnd()),
                           strides(count, deduction.constant(1));
  if (op.getStrides())
    strides = getSymExprs(*op.getStrides());
  for (auto [list, name] : {std::pair(&begin, "begin"), std::pair(&end, "end"),
                            std::pair(&strides, "strides")})
    if (list->size() != count)
      return deduction.emitError() << name << " has " << list->size()
                                   << " entries, axes has " << count;
  std::optional<SymDims> dims;
  SmallVector<int64_t> axes(op.getAxes());
  if (x->ranked) {
    FailureOr<SmallVector<int64_t>> normal =
        deduction.axes(op.getAxes(), x->rank());
    if (failed(normal))
      return failure();
    axes = *normal;
    dims = x->dims;
  }
  for (size_t i = 0; i < count; ++i) {
    SymExprAttr dim = dims ? (*dims)[axes[i]] : SymExprAttr();
    FailureOr<SymExprAttr> size =
        op.getAssumeInbound()
            ? deduceInboundSize(deduction, axes[i], dim, begin[i], end[i],
                                strides[i])
            : deduceSliceSize(deduction, dim, begin[i], end[i], strides[i]);
    if (failed(size))
      return failure();
    if (dims)
      (*dims)[axes[i]] = *size;
  }
  results.push_back(Deduction::tensorType(dims, x->elementType));
  return success();
}

OpFoldResult StridedSliceOp::fold(FoldAdaptor) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || type != getType())
    return {};
  // All slices must be whole, which is also possible for unknown dimensions.
  SymDims dims = getSymDims(type);
  Prover prover(getContext(), SymbolFacts::at(*this));
  SmallVector<SymExprAttr> begin = getSymExprs(getBegin()),
                           end = getSymExprs(getEnd()), strides;
  if (getStrides())
    strides = getSymExprs(*getStrides());
  for (auto [index, axis] : llvm::enumerate(getAxes())) {
    SymExprAttr dim = dims[axis < 0 ? axis + type.getRank() : axis];
    bool whole = begin[index].isConstant(0) &&
                 (strides.empty() || strides[index].isConstant(1)) &&
                 (isSliceEnd(end[index]) ||
                  prover.lessEqual(dim, end[index]) == Truth::Yes);
    if (!whole)
      return {};
  }
  return getX();
}

//===----------------------------------------------------------------------===//
// DynamicStridedSliceOp
//===----------------------------------------------------------------------===//

/// The elements of a constant tensor of rank one, as expressions.
static std::optional<SmallVector<SymExprAttr>> getConstantExprs(Value value) {
  DenseIntElementsAttr elements;
  if (!value.getDefiningOp() || !matchPattern(value, m_Constant(&elements)) ||
      elements.getNumElements() > kMaxShapeRank)
    return std::nullopt;
  SmallVector<SymExprAttr> exprs;
  for (const APInt &element : elements.getValues<APInt>())
    // INT64_MIN has no negation; the next integer gives the same slice.
    exprs.push_back(SymExprAttr::getConstant(
        value.getContext(), std::max(element.getSExtValue(), -kEnd)));
  return exprs;
}

LogicalResult DynamicStridedSliceOp::deduce(Deduction &deduction, Adaptor op,
                                            SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  SymExprAttr length;
  for (auto [value, name] :
       {std::pair(op.getBegin(), "begin"), std::pair(op.getEnd(), "end"),
        std::pair(op.getStrides(), "strides")}) {
    FailureOr<Deduction::Tensor> positions = deduction.tensor(value, name);
    if (failed(positions))
      return failure();
    if (!positions->ranked)
      continue;
    if (positions->rank() != 1)
      return deduction.emitError()
             << name << " must have rank 1, got rank " << positions->rank();
    SymExprAttr size = positions->dims[0];
    if (x->ranked && deduction.prover().equal(
                         size, deduction.constant(x->rank())) == Truth::No)
      return deduction.emitError()
             << name << " has " << describe(size)
             << " entries for a tensor of rank " << x->rank();
    FailureOr<SymExprAttr> merged = deduction.equalDim(
        length, "the lengths of begin", size, Twine("of ") + name);
    if (failed(merged))
      return failure();
    length = *merged;
  }
  auto begin = getConstantExprs(op.getBegin()),
       end = getConstantExprs(op.getEnd()),
       strides = getConstantExprs(op.getStrides());
  if (strides && llvm::any_of(*strides, [](SymExprAttr stride) {
        return stride.isConstant(0);
      }))
    return deduction.emitError() << "a stride must not be 0";
  if (!x->ranked) {
    results.push_back(UnrankedTensorType::get(x->elementType));
    return success();
  }
  SymDims dims(x->rank());
  if (begin && end && strides)
    for (auto [index, dim] : llvm::enumerate(dims)) {
      FailureOr<SymExprAttr> size =
          deduceSliceSize(deduction, x->dims[index], (*begin)[index],
                          (*end)[index], (*strides)[index]);
      if (failed(size))
        return failure();
      dim = *size;
    }
  results.push_back(getTensorType(dims, x->elementType));
  return success();
}

namespace {
/// Replaces a slice with constant positions by a `relax.strided_slice`.
struct MakeSliceStatic : OpRewritePattern<DynamicStridedSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicStridedSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto begin = getConstantExprs(op.getBegin()),
         end = getConstantExprs(op.getEnd()),
         strides = getConstantExprs(op.getStrides());
    if (!begin || !end || !strides || begin->size() != end->size() ||
        begin->size() != strides->size())
      return rewriter.notifyMatchFailure(op, "positions are not constant");
    auto array = [&](ArrayRef<SymExprAttr> exprs) {
      return rewriter.getArrayAttr(
          SmallVector<Attribute>(exprs.begin(), exprs.end()));
    };
    rewriter.replaceOpWithNewOp<StridedSliceOp>(
        op, op.getType(), op.getX(),
        rewriter.getDenseI64ArrayAttr(
            llvm::to_vector(llvm::seq<int64_t>(0, begin->size()))),
        array(*begin), array(*end), array(*strides), UnitAttr());
    return success();
  }
};
} // namespace

void DynamicStridedSliceOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MakeSliceStatic>(context);
}

//===----------------------------------------------------------------------===//
// SliceScatterOp
//===----------------------------------------------------------------------===//

LogicalResult SliceScatterOp::deduce(Deduction &deduction, Adaptor op,
                                     SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> input = deduction.tensor(op.getInput(), "input");
  FailureOr<Deduction::Tensor> src = deduction.tensor(op.getSrc(), "src");
  if (failed(input) || failed(src) ||
      failed(deduction.sameElementType(input->elementType, "input",
                                       src->elementType, "src")))
    return failure();
  results.push_back(op.getInput().getType());
  SymExprAttr step = op.getStep().value_or(deduction.constant(1));
  SymDims dims = input->dims;
  if (!input->ranked)
    return deduceSliceSize(deduction, {}, op.getStart(), op.getEnd(), step);
  FailureOr<int64_t> axis = deduction.axis(op.getAxis(), input->rank());
  if (failed(axis))
    return failure();
  FailureOr<SymExprAttr> size =
      deduceSliceSize(deduction, dims[*axis], op.getStart(), op.getEnd(), step);
  if (failed(size))
    return failure();
  dims[*axis] = *size;
  if (!src->ranked)
    return success();
  if (src->rank() != input->rank())
    return deduction.emitError()
           << "ranks differ: input has rank " << input->rank()
           << ", src has rank " << src->rank();
  for (auto [index, dim] : llvm::enumerate(dims))
    if (failed(deduction.equalDim(
            dim, "dimension " + Twine(index) + " of the slice",
            src->dims[index], "dimension " + Twine(index) + " of src")))
      return failure();
  return success();
}
