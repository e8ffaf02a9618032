//===- CheckIndices.cpp - insert checks of indices ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inserts a `relax.check_indices` before each op with indices that must be
// valid, for each operand that holds indices, unless
//
//   - their range is proved to be inside (Analysis/IndexRanges.h),
//   - the tensor has no elements,
//   - the same check precedes, in this block or an enclosing one.
//
// Kernels that come with the program declare by `relax.index_bound` which
// parameters hold indices (Relax/Notes.h).
//
// An unknown dimension gets a symbol from a `relax.match_cast`.
//
//===----------------------------------------------------------------------===//

#include "Analysis/IndexRanges.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Attention.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Index.h"
#include "Relax/SymDirectives.h"
#include "Transforms/Legalize/FreshSymbols.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Passes.h"
#include "Transforms/Legalize/PurityLoss.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CHECKINDICESPASS
#include "Transforms/Legalize/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

class FunctionChecker {
public:
  FunctionChecker(FuncOp function, SymbolTableCollection &tables)
      : function(function), tables(tables), ranges(function), fresh(function),
        math(function.getContext()) {}

  /// Returns whether a check was inserted.
  bool run() {
    SmallVector<Operation *> worklist;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function && isa_and_nonnull<RelaxDialect>(op->getDialect()))
        worklist.push_back(op);
    });
    for (Operation *op : worklist)
      visit(op);
    return inserted;
  }

private:
  /// The dimension that an index refers to.
  struct Target {
    SymExprAttr size;
    std::string name;
  };

  void visit(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](TakeOp op) { visitTake(op); })
        .Case<GatherElementsOp, ScatterElementsOp>(
            [&](auto op) { visitElements(op, op.getAxis()); })
        .Case([&](GatherNDOp op) { visitTuples(op, op.getBatchDims()); })
        .Case([&](ScatterNDOp op) { visitTuples(op, /*batches=*/0); })
        .Case<IndexTensorOp, IndexPutOp>([&](auto op) { visitTensors(op); })
        .Case([&](RotaryEmbeddingOp op) { visitRotary(op); })
        .Case([&](CallTIROp op) { visitKernel(op); });
  }

  void visitTake(TakeOp op) {
    if (op.getMode() != "raise" || !hasRank(op.getX()))
      return;
    if (op.getAxis())
      return check(op, op.getIndices(), "indices",
                   getTarget(op, op.getX(), *op.getAxis(), "x"));
    SymDims dims;
    for (int64_t axis = 0; axis < getRank(op.getX()); ++axis)
      dims.push_back(getSize(op, op.getX(), axis));
    check(op, op.getIndices(), "indices",
          Target{math.product(dims), "all elements of x"});
  }

  template <typename Op>
  void visitElements(Op op, int64_t axis) {
    if (hasRank(op.getData()))
      check(op, op.getIndices(), "indices",
            getTarget(op, op.getData(), axis, "data"));
  }

  template <typename Op>
  void visitTuples(Op op, int64_t batches) {
    auto type = dyn_cast<RankedTensorType>(op.getIndices().getType());
    // Skip what has no kernel anyway.
    if (!hasRank(op.getData()) || !type || type.getRank() == 0 ||
        ShapedType::isDynamic(type.getShape().back()))
      return;
    SmallVector<Target> targets;
    for (int64_t index = 0; index < type.getShape().back(); ++index)
      targets.push_back(getTarget(op, op.getData(), batches + index, "data"));
    if (!targets.empty())
      check(op, op.getIndices(), "indices", targets);
  }

  template <typename Op>
  void visitTensors(Op op) {
    if (!hasRank(op.getData()))
      return;
    bool isSingle = op.getIndices().size() == 1;
    for (auto [position, indices] : llvm::enumerate(op.getIndices()))
      check(op, indices,
            isSingle ? "indices" : "indices[" + std::to_string(position) + "]",
            getTarget(op, op.getData(), position, "data"));
  }

  /// Positions are rows of the tables; a scalar is the position of the first
  /// token.
  void visitRotary(RotaryEmbeddingOp op) {
    if (!op.getCos() || !op.getPositions() || !hasRank(op.getCos()) ||
        !hasRank(op.getPositions()) || !hasRank(op.getX()))
      return;
    Target target = getTarget(op, op.getCos(), 0, "cos");
    if (getRank(op.getPositions()) == 0)
      target = {math.sub(math.add(target.size, math.constant(1)),
                         getSize(op, op.getX(), 1)),
                "the rows of cos at which x may begin"};
    check(op, op.getPositions(), "positions", target, /*nonNegative=*/true);
  }

  /// Checks parameters as a kernel of the program declares them.
  void visitKernel(CallTIROp op) {
    auto kernel =
        tables.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
    if (!kernel)
      return;
    for (auto [index, operand] : llvm::enumerate(op.getOperands()))
      if (auto bound =
              kernel.getArgAttrOfType<IntegerAttr>(index, notes::kIndexBound))
        check(op, operand, "operand " + std::to_string(index),
              Target{math.constant(bound.getInt()), "what it indexes"},
              /*nonNegative=*/true, op.getCallee());
  }

  /// Without a rank there is no kernel, hence nothing to check.
  static bool hasRank(Value tensor) {
    return isa<RankedTensorType>(tensor.getType());
  }
  static int64_t getRank(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getRank();
  }

  Target getTarget(Operation *op, Value tensor, int64_t axis, StringRef name) {
    axis = getAxis(axis, getRank(tensor));
    return {getSize(op, tensor, axis),
            ("dimension " + Twine(axis) + " of " + name).str()};
  }

  /// A dimension of an operand of `op`, which gets a symbol if it has none.
  SymExprAttr getSize(Operation *op, Value tensor, int64_t axis) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (SymExprAttr size = getSymDims(type)[axis])
      return size;
    // A symbol is visible where its cast dominates: in the same block.
    Value &named = namedValues[{tensor, op->getBlock()}];
    if (!named) {
      OpBuilder builder(op);
      named = MatchCastOp::create(builder, op->getLoc(), fresh.nameDims(type),
                                  tensor);
    }
    return getSymDims(cast<RankedTensorType>(named.getType()))[axis];
  }

  void check(Operation *op, Value indices, StringRef operand,
             ArrayRef<Target> targets, bool nonNegative = false,
             StringRef name = "") {
    if (name.empty())
      name = op->getName().stripDialect();
    if (auto type = dyn_cast<RankedTensorType>(indices.getType());
        !type || llvm::is_contained(type.getShape(), 0))
      return;
    if (llvm::any_of(targets, [](const Target &one) { return !one.size; }) ||
        llvm::all_of(targets, [&](const Target &one) {
          return ranges.areInside(indices, one.size, nonNegative);
        }))
      return;
    OpBuilder builder(op);
    SmallVector<Attribute> bounds;
    SmallVector<StringRef> names;
    for (const Target &target : targets) {
      bounds.push_back(target.size);
      names.push_back(target.name);
    }
    ArrayAttr all = builder.getArrayAttr(bounds);
    SmallVector<CheckIndicesOp> &before = checks[indices];
    if (llvm::any_of(before, [&](CheckIndicesOp other) {
          return other.getBounds() == all &&
                 other.getNonNegative() == nonNegative &&
                 other->getBlock()->findAncestorOpInBlock(*op);
        }))
      return;
    before.push_back(CheckIndicesOp::create(
        builder, op->getLoc(), indices, all, builder.getStrArrayAttr(names),
        builder.getStringAttr(name), builder.getStringAttr(operand),
        nonNegative ? builder.getUnitAttr() : UnitAttr()));
    inserted = true;
  }

  FuncOp function;
  SymbolTableCollection &tables;
  IndexRanges ranges;
  FreshSymbols fresh;
  SymBuilder math;
  DenseMap<std::pair<Value, Block *>, Value> namedValues;
  DenseMap<Value, SmallVector<CheckIndicesOp>> checks;
  bool inserted = false;
};

struct CheckIndices : relax::impl::CheckIndicesPassBase<CheckIndices> {
  void runOnOperation() override {
    SymbolTableCollection tables;
    PurityLoss purity(getOperation());
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function.isExternal() && FunctionChecker(function, tables).run())
        purity.apply(function);
  }
};

} // namespace
