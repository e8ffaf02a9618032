//===- Control.cpp - dataflow blocks and control flow ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Control.cpp.inc"

void RelaxDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Control.cpp.inc"
      >();
}

/// Verifies that the terminator of a region yields values of the types
/// `expected`.
static LogicalResult verifyYield(Operation *op, Block &block,
                                 TypeRange expected, StringRef what) {
  Operation *terminator = block.getTerminator();
  if (terminator->getNumOperands() != expected.size())
    return terminator->emitOpError()
           << "gives " << terminator->getNumOperands() << " values, " << what
           << " has " << expected.size();
  Prover prover(op->getContext(), SymbolFacts::at(op));
  for (auto [index, have, want] :
       llvm::enumerate(terminator->getOperandTypes(), expected))
    if (implies(have, want, prover) != Truth::Yes)
      return terminator->emitOpError() << "operand " << index << " is " << have
                                       << ", " << what << " has " << want;
  return success();
}

/// The terminator of `block` must be a `Terminator`.
template <typename Terminator>
static LogicalResult verifyTerminator(Operation *op, Block &block,
                                      StringRef region) {
  if (block.mightHaveTerminator() && isa<Terminator>(block.getTerminator()))
    return success();
  return op->emitOpError() << "the " << region << " must end in "
                           << Terminator::getOperationName();
}

LogicalResult DataflowOp::verifyRegions() {
  Block &block = getBody().front();
  if (failed(verifyTerminator<OutputOp>(*this, block, "body")))
    return failure();
  for (Operation &op : block.without_terminator()) {
    if (isa<IfOp, WhileOp, DataflowOp>(op))
      return op.emitOpError() << "is control flow, which a relax.dataflow "
                                 "block must not contain";
    if (!isa<MatchCastOp>(op) && !isMemoryEffectFree(&op))
      return op.emitOpError()
             << "may have side effects, which a relax.dataflow block must not";
  }
  return verifyYield(*this, block, getResultTypes(), "relax.dataflow");
}

LogicalResult IfOp::verifyRegions() {
  for (auto [region, name] : {std::pair(&getThenRegion(), "then branch"),
                              std::pair(&getElseRegion(), "else branch")}) {
    Block &block = region->front();
    if (failed(verifyTerminator<YieldOp>(*this, block, name)) ||
        failed(verifyYield(*this, block, getResultTypes(), "relax.if")))
      return failure();
  }
  return success();
}

LogicalResult WhileOp::verifyRegions() {
  Prover prover(getContext(), SymbolFacts::at(*this));
  if (getInits().size() != getNumResults())
    return emitOpError() << "has " << getInits().size()
                         << " initial values and " << getNumResults()
                         << " results";
  for (auto [index, init, result] :
       llvm::enumerate(getInits().getTypes(), getResultTypes()))
    if (implies(init, result, prover) != Truth::Yes)
      return emitOpError() << "initial value " << index << " is " << init
                           << ", the carried type is " << result;
  for (Region *region : {&getConditionRegion(), &getBody()})
    if (region->front().getArgumentTypes() != getResultTypes())
      return emitOpError() << "the arguments of region "
                           << region->getRegionNumber()
                           << " must have the result types";
  if (failed(verifyTerminator<ConditionOp>(*this, getConditionRegion().front(),
                                           "condition")) ||
      failed(verifyTerminator<YieldOp>(*this, getBody().front(), "body")))
    return failure();
  return verifyYield(*this, getBody().front(), getResultTypes(), "relax.while");
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

/// The value of a constant condition.
static std::optional<bool> getConstantCondition(Value condition) {
  APInt value;
  if (!condition.getDefiningOp() ||
      !matchPattern(condition, m_ConstantInt(&value)))
    return std::nullopt;
  return !value.isZero();
}

namespace {

/// Replaces an `if` with a constant condition by the branch taken.
struct InlineKnownBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> condition = getConstantCondition(op.getCondition());
    if (!condition)
      return rewriter.notifyMatchFailure(op, "the condition is not a constant");
    Region &region = *condition ? op.getThenRegion() : op.getElseRegion();
    // Symbols are scoped to their branch, and a later cast may redefine them.
    if (region.walk([](MatchCastOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return rewriter.notifyMatchFailure(op, "the branch may define symbols");
    Block &block = region.front();
    Operation *terminator = block.getTerminator();
    SmallVector<Value> results(terminator->getOperands());
    rewriter.inlineBlockBefore(&block, op);
    rewriter.replaceOp(op, results);
    rewriter.eraseOp(terminator);
    return success();
  }
};

/// Erases assertions that always hold.
struct EraseTrueAssert : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AssertOp op,
                                PatternRewriter &rewriter) const override {
    if (getConstantCondition(op.getCondition()) != true)
      return rewriter.notifyMatchFailure(op, "the condition is not known true");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                       MLIRContext *context) {
  patterns.add<InlineKnownBranch>(context);
}
void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<EraseTrueAssert>(context);
}
