//===- FoldEmptyTensors.cpp - drop work on tensors without elements -------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop nest with a size that is statically 0 does nothing, so its op is
// replaced by its init: an empty sum is its initial value. The remaining ops
// are nonempty, so schedules may divide by sizes, and slices do not begin at
// the end of a dimension, which MLIR's verifiers reject.
//
// Sizes that are 0 only at run time give loops without iterations.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/EmptyTensors.h"
#include "Transforms/Legalize/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {
#define GEN_PASS_DEF_FOLDEMPTYTENSORSPASS
#include "Transforms/Legalize/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// The bound of a loop, if it is a constant or a static size.
static std::optional<int64_t> constantBound(OpFoldResult bound) {
  if (std::optional<int64_t> value = getConstantIntValue(bound))
    return value;
  auto dim = cast<Value>(bound).getDefiningOp<tensor::DimOp>();
  auto type =
      dim ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : nullptr;
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  if (!type || !index || *index >= type.getRank() || type.isDynamicDim(*index))
    return std::nullopt;
  return type.getDimSize(*index);
}

/// Whether a loop has no iterations.
static bool hasNoIteration(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds(),
                                           upper = loop.getLoopUpperBounds();
  if (!lower || !upper)
    return false;
  return llvm::any_of(llvm::zip(*lower, *upper), [](auto bounds) {
    auto [from, to] = bounds;
    std::optional<int64_t> first = constantBound(from),
                           last = constantBound(to);
    return first && last && *last <= *first;
  });
}

namespace {

class EmptyFolder {
public:
  explicit EmptyFolder(func::FuncOp kernel) : rewriter(kernel.getContext()) {}

  void visit(Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto root = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      if (!root.getResult() && hasNoElement(root.getSource().getType()))
        rewriter.eraseOp(root);
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      foldStructured(structured);
    } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (hasNoElement(insertion.getSource().getType()))
        rewriter.replaceOp(insertion, insertion.getDest());
    } else if (auto insertion = dyn_cast<tensor::ParallelInsertSliceOp>(op)) {
      if (hasNoElement(insertion.getSource().getType()))
        rewriter.eraseOp(insertion);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      foldSlice(slice);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      foldConcat(concat);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      foldPad(pad);
    } else if (isa<scf::ForOp, scf::ForallOp, scf::ParallelOp>(op)) {
      if (hasNoIteration(cast<LoopLikeOpInterface>(op)))
        foldLoop(op);
    }
  }

private:
  void foldStructured(linalg::LinalgOp op) {
    if (!llvm::is_contained(op.getStaticLoopRanges(), 0))
      return;
    if (op.hasPureTensorSemantics())
      rewriter.replaceOp(op, op.getDpsInits());
    else if (op.hasPureBufferSemantics())
      rewriter.eraseOp(op);
  }

  void foldSlice(tensor::ExtractSliceOp op) {
    if (!hasNoElement(op.getType()))
      return;
    llvm::SmallBitVector dropped = op.getDroppedDims();
    RankedTensorType type = op.getType();
    SmallVector<Value> dynamic;
    int64_t dim = 0;
    for (auto [index, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped[index] && type.isDynamicDim(dim++))
        dynamic.push_back(
            getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type, dynamic);
  }

  void foldConcat(tensor::ConcatOp op) {
    SmallVector<Value> parts(
        llvm::make_filter_range(op.getInputs(), [](Value part) {
          return !hasNoElement(part.getType());
        }));
    if (parts.size() == op.getInputs().size() || parts.empty())
      return;
    Value joined = parts.front();
    if (parts.size() > 1)
      joined =
          tensor::ConcatOp::create(rewriter, op.getLoc(), op.getDim(), parts);
    if (joined.getType() != op.getType())
      joined =
          tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), joined);
    rewriter.replaceOp(op, joined);
  }

  /// Only the padding is left.
  void foldPad(tensor::PadOp op) {
    if (!hasNoElement(op.getSource().getType()) || hasNoElement(op.getType()))
      return;
    Location loc = op.getLoc();
    ReifiedRankedShapedTypeDims shape;
    if (failed(reifyResultShapes(rewriter, op, shape)))
      return;
    RankedTensorType type = op.getResultType();
    SmallVector<Value> dynamic;
    for (auto [dim, size] : llvm::enumerate(shape.front()))
      if (type.isDynamicDim(dim))
        dynamic.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
    if (Value number = op.getConstantPaddingValue()) {
      Value empty = tensor::EmptyOp::create(rewriter, loc, type, dynamic);
      rewriter.replaceOpWithNewOp<linalg::FillOp>(op, number, empty);
      return;
    }
    auto generate = tensor::GenerateOp::create(rewriter, loc, type, dynamic);
    rewriter.inlineRegionBefore(op.getRegion(), generate.getBody(),
                                generate.getBody().end());
    rewriter.replaceOp(op, generate);
  }

  void foldLoop(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      rewriter.replaceOp(op, loop.getInitArgs());
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      rewriter.replaceOp(op, loop.getOutputs());
    else
      rewriter.replaceOp(op, cast<scf::ParallelOp>(op).getInitVals());
  }

  IRRewriter rewriter;
};

struct FoldEmptyTensors
    : relax::impl::FoldEmptyTensorsPassBase<FoldEmptyTensors> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal())
      return;
    EmptyFolder folder(kernel);
    kernel.walk([&](Operation *op) { folder.visit(op); });
    // Erase ops that became dead.
    for (Block &block : kernel.getBody())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
  }
};

} // namespace
