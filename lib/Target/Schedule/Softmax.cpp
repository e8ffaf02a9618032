//===- Softmax.cpp - matches the softmax of a nest ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/Softmax.h"

#include "Target/Schedule/Combiner.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

std::optional<APFloat> relax::numberOf(Value value) {
  FloatAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  return attr.getValue();
}

SmallVector<linalg::GenericOp> relax::readersOf(linalg::GenericOp op) {
  SmallVector<linalg::GenericOp> readers;
  for (auto reader : op->getBlock()->getOps<linalg::GenericOp>())
    if (llvm::any_of(KernelGraph::reads(reader), [&](auto read) {
          return read.first.getDefiningOp() == op;
        }))
      readers.push_back(reader);
  return readers;
}

static bool isBody(Value value, linalg::GenericOp op) {
  return value.getParentBlock() == op.getBody();
}

/// The op that computes the only value that `op` yields; null otherwise.
static Operation *yielded(linalg::GenericOp op) {
  if (op->getNumResults() != 1)
    return nullptr;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  return isBody(value, op) ? value.getDefiningOp() : nullptr;
}

/// The operand of `op` for an argument of its body, or null.
static Value operandOf(Value argument, linalg::GenericOp op) {
  auto block = dyn_cast<BlockArgument>(argument);
  if (!block || block.getOwner() != op.getBody())
    return {};
  return op->getOperand(block.getArgNumber());
}

/// Whether `op` is a plain reduction of `source` of the given kind.
static bool reduces(linalg::GenericOp op, Value source,
                    arith::AtomicRMWKind kind) {
  std::optional<Combiner> combiner;
  if (op->getNumResults() == 1)
    combiner = Combiner::match(op, 0);
  Operation *last = yielded(op);
  if (!combiner || combiner->kind != kind || !last)
    return false;
  return llvm::any_of(last->getOperands(), [&](Value operand) {
    return operandOf(operand, op) == source;
  });
}

static bool isLowest(const APFloat &number) {
  return number.isInfinity() && number.isNegative();
}

/// Whether `op` is exp(scores - maximum); sets `isGuarded`.
static bool isPower(linalg::GenericOp op, Softmax &softmax) {
  auto exp = dyn_cast_or_null<math::ExpOp>(yielded(op));
  auto difference =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  if (!difference ||
      operandOf(difference.getLhs(), op) != softmax.scores->getResult(0))
    return false;
  auto isMaximum = [&](Value value) {
    Value operand = operandOf(value, op);
    return operand && operand.getDefiningOp() == softmax.maximum;
  };
  Value shift = difference.getRhs();
  auto choice = shift.getDefiningOp<arith::SelectOp>();
  if (!choice)
    return isMaximum(shift);
  auto compare = choice.getCondition().getDefiningOp<arith::CmpFOp>();
  std::optional<APFloat> instead = numberOf(choice.getTrueValue());
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ ||
      !isMaximum(compare.getLhs()) || !isMaximum(choice.getFalseValue()))
    return false;
  std::optional<APFloat> to = numberOf(compare.getRhs());
  softmax.isGuarded = true;
  return to && isLowest(*to) && instead && instead->isFinite();
}

/// Whether `op` sums the products of `powers` and another factor.
static bool mixes(linalg::GenericOp op, Value powers) {
  auto add = dyn_cast_or_null<arith::AddFOp>(yielded(op));
  if (!add || !Combiner::match(op, 0))
    return false;
  return llvm::any_of(add->getOperands(), [&](Value operand) {
    auto product = operand.getDefiningOp<arith::MulFOp>();
    return product && isBody(operand, op) &&
           llvm::any_of(product->getOperands(), [&](Value factor) {
             return operandOf(factor, op) == powers;
           });
  });
}

std::optional<Softmax> Softmax::match(linalg::GenericOp scores) {
  if (scores->getNumResults() != 1)
    return std::nullopt;
  Softmax softmax;
  softmax.scores = scores;
  SmallVector<linalg::GenericOp> readers = readersOf(scores);
  for (linalg::GenericOp reader : readers)
    if (reduces(reader, scores->getResult(0), arith::AtomicRMWKind::maximumf))
      softmax.maximum = reader;
  if (!softmax.maximum || readers.size() != 2)
    return std::nullopt;
  auto init =
      softmax.maximum.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  std::optional<APFloat> least =
      init ? numberOf(init.getInputs().front()) : std::nullopt;
  softmax.powers = readers[0] == softmax.maximum ? readers[1] : readers[0];
  if (!least || least->isNaN() || !isPower(softmax.powers, softmax))
    return std::nullopt;
  softmax.least = *least;
  softmax.sums = readersOf(softmax.powers);
  Value powers = softmax.powers->getResult(0);
  for (linalg::GenericOp sum : softmax.sums)
    if (!reduces(sum, powers, arith::AtomicRMWKind::addf) &&
        !mixes(sum, powers))
      return std::nullopt;
  return softmax;
}

linalg::GenericOp Softmax::total() const {
  auto *found = llvm::find_if(sums, [&](linalg::GenericOp sum) {
    return reduces(sum, linalg::GenericOp(powers)->getResult(0),
                   arith::AtomicRMWKind::addf);
  });
  return found == sums.end() ? linalg::GenericOp() : *found;
}

bool Softmax::vanishes(const APFloat &hidden) const {
  if (least < hidden)
    return false;
  // exp(-inf - maximum) is zero, unless the maximum is minus infinity too.
  if (isLowest(hidden))
    return isGuarded || least.isFinite();
  if (isGuarded || !least.isFinite())
    return false;
  // The exponential underflows to zero in every format below about -1100.
  return hidden.convertToDouble() - least.convertToDouble() < -2000;
}
