//===- ManipulateFold.cpp - folds of rearranging ops ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is only replaced by a value of the same type, and a run-time check is
// dropped only if it is proved to hold or implied by another one.
//
//===----------------------------------------------------------------------===//

#include "Relax/Forwarding.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::relax;

/// Normalizes axes to [0, rank); they have been verified if `rank` is known.
static SmallVector<int64_t> normalize(ArrayRef<int64_t> axes, int64_t rank) {
  return llvm::map_to_vector(
      axes, [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
}

static std::optional<int64_t> getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional(type.getRank()) : std::nullopt;
}

static ArrayAttr getExprArray(MLIRContext *context,
                              ArrayRef<SymExprAttr> dims) {
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(dims.begin(), dims.end()));
}

//===----------------------------------------------------------------------===//
// Towards a target shape
//===----------------------------------------------------------------------===//

/// Folds to the operand if it already has the target shape.
template <typename Op>
static Value foldSameShape(Op op, Value operand) {
  bool known = getKnownDims(operand.getType()) &&
               (!op.getShape() || getKnownDims(op.getShape().getType()));
  return known && operand.getType() == op.getType() ? operand : Value();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return foldSameShape(*this, getX());
}
OpFoldResult BroadcastToOp::fold(FoldAdaptor) {
  Value same = foldSameShape(*this, getX());
  return same ? forward(same, *this) : OpFoldResult();
}
OpFoldResult CollapseSumToOp::fold(FoldAdaptor) {
  Value same = foldSameShape(*this, getData());
  return same ? forward(same, *this) : OpFoldResult();
}

OpFoldResult FlattenOp::fold(FoldAdaptor) {
  return getRank(getX()) == 1 && getX().getType() == getType() ? getX()
                                                               : Value();
}

namespace {

/// Replaces a shape value whose type is fully known by expressions.
template <typename Op>
struct ShapeToDims : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getShape())
      return rewriter.notifyMatchFailure(op, "has expressions already");
    auto dims = getKnownDims(op.getShape().getType());
    if (!dims)
      return rewriter.notifyMatchFailure(op, "a dimension is unknown");
    rewriter.replaceOpWithNewOp<Op>(op, op.getType(), op->getOperand(0),
                                    Value(),
                                    getExprArray(op.getContext(), *dims));
    return success();
  }
};

/// Replaces a -1 by its value if the result type gives it.
struct ReplaceInferredDim : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto resultType = dyn_cast<RankedTensorType>(op.getType());
    if (!op.getDims() || !resultType)
      return rewriter.notifyMatchFailure(op, "no -1, or of unknown size");
    SmallVector<SymExprAttr> dims = getSymExprs(*op.getDims());
    auto it =
        llvm::find_if(dims, [](SymExprAttr dim) { return dim.isConstant(-1); });
    if (it == dims.end())
      return rewriter.notifyMatchFailure(op, "no -1");
    SymExprAttr known = getSymDims(resultType)[it - dims.begin()];
    if (!known)
      return rewriter.notifyMatchFailure(op, "-1 is of unknown size");
    *it = known;
    rewriter.modifyOpInPlace(
        op, [&] { op.setDimsAttr(getExprArray(op.getContext(), dims)); });
    return success();
  }
};

/// Merges two reshapes: only the last one matters. Each checks that the number
/// of elements stays the same; the remaining check implies both if one of them
/// is proved.
struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    Operation *inner = op.getX().getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, FlattenOp, ExpandDimsOp>(inner))
      return rewriter.notifyMatchFailure(op, "x is not reshaped");
    if (!op.getDims() || llvm::any_of(getSymExprs(*op.getDims()), [](auto dim) {
          return dim.isConstant(-1);
        }))
      return rewriter.notifyMatchFailure(op, "the target is not known");
    Value source = inner->getOperand(0);
    SymBuilder math(op.getContext());
    auto count = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? countElements(math, getSymDims(type)) : SymExprAttr();
    };
    Prover prover(op.getContext(), SymbolFacts::at(op));
    SymExprAttr before = count(source), between = count(op.getX()),
                after = countElements(math, getSymExprs(*op.getDims()));
    bool proved = !isa<ReshapeOp>(inner) ||
                  prover.provedEqual(before, between) ||
                  prover.provedEqual(between, after);
    if (!proved || prover.equal(before, after) == Truth::No)
      return rewriter.notifyMatchFailure(op, "both reshapes check something");
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(source); });
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ShapeToDims<ReshapeOp>, ReplaceInferredDim, ReshapeOfReshape>(
      context);
}
void BroadcastToOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<ShapeToDims<BroadcastToOp>>(context);
}
void CollapseSumToOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<ShapeToDims<CollapseSumToOp>>(context);
}

//===----------------------------------------------------------------------===//
// Reordering, adding and dropping dimensions
//===----------------------------------------------------------------------===//

/// The axes in [0, rank), including the default order; nullopt if the rank is
/// unknown.
static std::optional<SmallVector<int64_t>> getPermutation(PermuteDimsOp op) {
  if (auto axes = op.getAxes())
    return normalize(*axes, axes->size());
  std::optional<int64_t> rank = getRank(op.getX());
  if (!rank)
    return std::nullopt;
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, *rank)));
}

OpFoldResult PermuteDimsOp::fold(FoldAdaptor) {
  if (getX().getType() != getType())
    return {};
  auto axes = getPermutation(*this);
  if (axes && llvm::equal(*axes, llvm::seq<int64_t>(0, axes->size())))
    return forward(getX(), *this);
  return {};
}

namespace {
struct PermuteOfPermute : OpRewritePattern<PermuteDimsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteDimsOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<PermuteDimsOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "x is not permuted");
    if (!canForward(inner.getX(), op))
      return rewriter.notifyMatchFailure(op, "x may be overwritten");
    auto first = getPermutation(inner), second = getPermutation(op);
    if (!first || !second || first->size() != second->size())
      return rewriter.notifyMatchFailure(op, "the rank is unknown");
    auto axes = llvm::map_to_vector(
        *second, [&](int64_t axis) { return (*first)[axis]; });
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(inner.getX());
      op.setAxes(axes);
    });
    return success();
  }
};
} // namespace

void PermuteDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<PermuteOfPermute>(context);
}

/// Whether one op inserts the axes that the other one drops; `rank` is the rank
/// with these axes.
static bool haveSameAxes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                         Value with) {
  std::optional<int64_t> rank = getRank(with);
  if (!rank)
    return lhs == rhs;
  SmallVector<int64_t> l = normalize(lhs, *rank), r = normalize(rhs, *rank);
  llvm::sort(l);
  llvm::sort(r);
  return l == r;
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor) {
  if (getAxis().empty() && getX().getType() == getType())
    return getX();
  auto squeeze = getX().getDefiningOp<SqueezeOp>();
  if (!squeeze || !squeeze.getAxis() || !getRank(squeeze.getX()) ||
      squeeze.getX().getType() != getType() ||
      !haveSameAxes(getAxis(), *squeeze.getAxis(), getResult()))
    return {};
  return squeeze.getX();
}

OpFoldResult SqueezeOp::fold(FoldAdaptor) {
  // With equal ranks there is nothing to drop.
  if (getRank(getX()) && getX().getType() == getType())
    return getX();
  auto expand = getX().getDefiningOp<ExpandDimsOp>();
  if (!expand || !getAxis() || !getRank(getX()) ||
      expand.getX().getType() != getType() ||
      !haveSameAxes(*getAxis(), expand.getAxis(), getX()))
    return {};
  return expand.getX();
}

//===----------------------------------------------------------------------===//
// Joining and splitting
//===----------------------------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getTensors().size() == 1 && getTensors()[0].getType() == getType()
             ? forward(getTensors()[0], *this)
             : OpFoldResult();
}

namespace {

/// concat(concat(a, b), c) is concat(a, b, c).
struct FlattenConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> tensors;
    for (Value tensor : op.getTensors()) {
      auto inner = tensor.getDefiningOp<ConcatOp>();
      if (inner && inner->hasOneUse() && sameAxis(op, inner) &&
          llvm::all_of(inner.getTensors(),
                       [&](Value joined) { return canForward(joined, op); }))
        llvm::append_range(tensors, inner.getTensors());
      else
        tensors.push_back(tensor);
    }
    if (tensors.size() == op.getTensors().size() &&
        llvm::equal(tensors, op.getTensors()))
      return rewriter.notifyMatchFailure(op, "no concat along the same axis");
    rewriter.modifyOpInPlace(op,
                             [&] { op.getTensorsMutable().assign(tensors); });
    return success();
  }

private:
  static bool sameAxis(ConcatOp lhs, ConcatOp rhs) {
    int64_t l = lhs.getAxis(), r = rhs.getAxis();
    std::optional<int64_t> rank = getRank(rhs.getResult());
    if (l == r)
      return true;
    return rank && normalize(l, *rank) == normalize(r, *rank);
  }
};

/// Stacking a single tensor only adds a dimension.
struct StackOfOne : OpRewritePattern<StackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StackOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getTensors().size() != 1)
      return rewriter.notifyMatchFailure(op, "more than one tensor");
    if (!canForward(op.getTensors()[0], op))
      return rewriter.notifyMatchFailure(op, "the tensor may be overwritten");
    rewriter.replaceOpWithNewOp<ExpandDimsOp>(
        op, op.getType(), op.getTensors()[0],
        rewriter.getDenseI64ArrayAttr(static_cast<int64_t>(op.getAxis())));
    return success();
  }
};

} // namespace

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FlattenConcat>(context);
}
void StackOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<StackOfOne>(context);
}

LogicalResult SplitOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (getNumResults() != 1 || getResult(0).getType() != getX().getType() ||
      !canForward(getX(), *this))
    return failure();
  results.push_back(getX());
  return success();
}

//===----------------------------------------------------------------------===//
// Repeating and reversing
//===----------------------------------------------------------------------===//

OpFoldResult RepeatOp::fold(FoldAdaptor) {
  // Without an axis, a tensor of rank one is already flat.
  bool keepsShape = getAxis() || getRank(getData()) == 1;
  return getRepeats() == 1 && keepsShape && getData().getType() == getType()
             ? forward(getData(), *this)
             : OpFoldResult();
}

OpFoldResult TileOp::fold(FoldAdaptor) {
  std::optional<int64_t> rank = getRank(getData());
  bool keepsShape = rank && static_cast<int64_t>(getRepeats().size()) <= *rank;
  return keepsShape && llvm::all_equal(getRepeats()) &&
                 (getRepeats().empty() || getRepeats()[0] == 1) &&
                 getData().getType() == getType()
             ? forward(getData(), *this)
             : OpFoldResult();
}

OpFoldResult FlipOp::fold(FoldAdaptor) {
  auto inner = getData().getDefiningOp<FlipOp>();
  if (!inner || inner.getData().getType() != getType())
    return {};
  int64_t axis = getAxis(), innerAxis = inner.getAxis();
  std::optional<int64_t> rank = getRank(inner.getData());
  if (axis == innerAxis ||
      (rank && normalize(axis, *rank) == normalize(innerAxis, *rank)))
    return forward(inner.getData(), *this);
  return {};
}
