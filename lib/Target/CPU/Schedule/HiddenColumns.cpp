//===- HiddenColumns.cpp - skips fully masked columns ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognizes a causal mask by its loops: scores that are `hidden` (a constant)
// in all columns j > e, where e is an expression of the row,
//
//   s = select(j <= e & …, x, hidden)
//
// If the scores are used only by a softmax (Softmax.h), hidden scores do not
// change the maximum and add zeros to the sums, so columns beyond the greatest
// e of a block of rows are skipped, provided that nothing else reads s and p.
// (Skipped columns are not read, so an infinite v there is not multiplied by
// zero.)
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Finds `j <= e` among the terms of a conjunction.
static bool findBound(Value condition, unsigned column, HiddenColumns &hidden) {
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != hidden.op.getBody())
    return false;
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return findBound(both.getLhs(), column, hidden) ||
           findBound(both.getRhs(), column, hidden);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  auto isColumn = [&](Value value) {
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index->getBlock() == hidden.op.getBody() &&
           index.getDim() == column;
  };
  using arith::CmpIPredicate;
  CmpIPredicate predicate = compare.getPredicate();
  if (isColumn(compare.getLhs()) &&
      llvm::is_contained({CmpIPredicate::sle, CmpIPredicate::slt}, predicate)) {
    hidden.last = compare.getRhs();
    hidden.more = predicate == CmpIPredicate::sle;
    return true;
  }
  if (isColumn(compare.getRhs()) &&
      llvm::is_contained({CmpIPredicate::sge, CmpIPredicate::sgt}, predicate)) {
    hidden.last = compare.getLhs();
    hidden.more = predicate == CmpIPredicate::sge;
    return true;
  }
  return false;
}

/// Finds the op that masks columns; sets `number` to the value that it uses for
/// hidden columns.
static std::optional<HiddenColumns> findMask(const Nest &nest, Axis column,
                                             std::optional<APFloat> &number) {
  for (const Stage &stage : nest.stages) {
    linalg::GenericOp op = stage.op;
    std::optional<unsigned> loop = stage.loopOf(column);
    if (op->getNumResults() != 1 || stage.isReduction() || !loop)
      continue;
    auto choice = op.getBody()
                      ->getTerminator()
                      ->getOperand(0)
                      .getDefiningOp<arith::SelectOp>();
    if (!choice || choice->getBlock() != op.getBody())
      continue;
    number = numberOf(choice.getFalseValue());
    HiddenColumns hidden;
    hidden.op = op;
    if (number && !number->isNaN() &&
        findBound(choice.getCondition(), *loop, hidden))
      return hidden;
  }
  return std::nullopt;
}

std::optional<HiddenColumns>
HiddenColumns::match(const Nest &nest, function_ref<bool(OpResult)> isKept) {
  std::optional<APFloat> number;
  std::optional<HiddenColumns> hidden = findMask(nest, *nest.columns, number);
  if (!hidden)
    return std::nullopt;
  std::optional<Softmax> softmax = Softmax::match(hidden->op);
  if (!softmax || !softmax->vanishes(*number))
    return std::nullopt;
  // Apart from the producer of the scores, no other stage may have these
  // columns.
  for (const Stage &stage : nest.stages) {
    auto loop = stage.loopOf(*nest.columns);
    if (!loop)
      continue;
    linalg::GenericOp op = stage.op;
    for (OpResult result : op->getResults())
      if (stage.isParallel(*loop) && isKept(result))
        return std::nullopt;
    if (op == softmax->scores || op == softmax->maximum ||
        op == softmax->powers || llvm::is_contained(softmax->sums, op))
      continue;
    if (!stage.isParallel(*loop) ||
        readersOf(op) != SmallVector<linalg::GenericOp>{softmax->scores})
      return std::nullopt;
  }
  return hidden;
}

/// Evaluates `value`, from the body of a structured op, at a point; null if
/// some part of it cannot be evaluated.
static Value evaluateAt(Value value, linalg::GenericOp op, OpBuilder &builder,
                        function_ref<Value(unsigned)> index,
                        function_ref<Value(BlockArgument)> element,
                        IRMapping &done) {
  if (value.getParentBlock() != op.getBody())
    return value;
  if (Value known = done.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return element(argument);
  Operation *inner = value.getDefiningOp();
  if (auto loop = dyn_cast<linalg::IndexOp>(inner))
    return index(loop.getDim());
  if (inner->getNumRegions() || !isPure(inner) ||
      isa_and_nonnull<tensor::TensorDialect>(inner->getDialect()))
    return {};
  for (Value operand : inner->getOperands()) {
    Value at = evaluateAt(operand, op, builder, index, element, done);
    if (!at)
      return {};
    done.map(operand, at);
  }
  return builder.clone(*inner, done)->getResult(0);
}

Value HiddenColumns::countVisible(
    OpBuilder &builder, Location loc, function_ref<Value(unsigned)> index,
    function_ref<Value(BlockArgument)> element) const {
  IRMapping done;
  Value at = evaluateAt(last, op, builder, index, element, done);
  if (!at || more == 0)
    return at;
  Value number = arith::ConstantIndexOp::create(builder, loc, more);
  return builder.createOrFold<arith::AddIOp>(loc, at, number);
}

//===----------------------------------------------------------------------===//
// For a block of rows
//===----------------------------------------------------------------------===//

void NestEmitter::findHidden() {
  hidden = HiddenColumns::match(
      nest, [&](OpResult result) { return destinations.count(result) > 0; });
}

Value NestEmitter::visibleColumns(const Points &points) {
  Value most = emitter.constant(0), size = sizes[*nest.columns];
  const Stage *stage = llvm::find_if(
      nest.stages, [&](const Stage &each) { return each.op == hidden->op; });
  for (const Point &point : points) {
    Value count = hidden->countVisible(
        builder, loc,
        [&](unsigned loop) -> Value {
          Lanes at = point.at.lookup(stage->axes[loop]);
          return at.isUniform() ? at.value : Value();
        },
        [](BlockArgument) { return Value(); });
    if (!count)
      return size;
    most = arith::MaxSIOp::create(builder, loc, most, count);
  }
  return arith::MinSIOp::create(builder, loc, most, size);
}
