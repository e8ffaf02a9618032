//===- HiddenColumns.cpp - columns of a block that no row of it sees ------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A causal mask, as its loops show it: scores that are `hidden` (a constant) in
// all columns j > e, where e is an expression of the row,
//
//   s = select(j <= e & …, x, hidden)
//   t = max(init, max_j s)                    init >= hidden
//   p = exp(s - t)                            0 where s is hidden
//   Σ_j p, Σ_j p v[j]
//
// The maximum does not change by what is hidden, and the sums add zeros there:
// columns behind the greatest e of a block of rows may be left out. They are,
// if nothing else reads s and p. (What is left out is not read: an infinite v
// there is not multiplied with zero.)
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/Combiner.h"
#include "Target/CPU/Schedule/NestEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// The number that a value is, or none.
static std::optional<APFloat> numberOf(Value value) {
  FloatAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  return attr.getValue();
}

static bool isBody(Value value, linalg::GenericOp op) {
  return value.getParentBlock() == op.getBody();
}

/// The only value that `op` yields.
static Operation *yielded(linalg::GenericOp op) {
  if (op->getNumResults() != 1)
    return nullptr;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  return isBody(value, op) ? value.getDefiningOp() : nullptr;
}

/// The operand of `op` that is behind an argument of its body, or null.
static Value operandOf(Value argument, linalg::GenericOp op) {
  auto block = dyn_cast<BlockArgument>(argument);
  if (!block || block.getOwner() != op.getBody())
    return {};
  return op->getOperand(block.getArgNumber());
}

/// Whether `op` reduces `source` along `axis` and nothing else, by `kind`.
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

namespace {

/// The stages of a nest, by what they are in the drawing above.
struct Causal {
  linalg::GenericOp scores, maximum, powers;
  APFloat hidden{0.0f};
  /// The last visible column plus `more`, an expression in the body of scores.
  Value last;
  int64_t more = 0;
};

} // namespace

/// Finds `j <= e` among the terms of a conjunction.
static bool findBound(Value condition, unsigned column, Causal &causal) {
  Operation *op = condition.getDefiningOp();
  if (!op || !isBody(condition, causal.scores))
    return false;
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return findBound(both.getLhs(), column, causal) ||
           findBound(both.getRhs(), column, causal);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  auto isColumn = [&](Value value) {
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && isBody(value, causal.scores) && index.getDim() == column;
  };
  using arith::CmpIPredicate;
  CmpIPredicate predicate = compare.getPredicate();
  if (isColumn(compare.getLhs()) &&
      llvm::is_contained({CmpIPredicate::sle, CmpIPredicate::slt}, predicate)) {
    causal.last = compare.getRhs();
    causal.more = predicate == CmpIPredicate::sle;
    return true;
  }
  if (isColumn(compare.getRhs()) &&
      llvm::is_contained({CmpIPredicate::sge, CmpIPredicate::sgt}, predicate)) {
    causal.last = compare.getLhs();
    causal.more = predicate == CmpIPredicate::sge;
    return true;
  }
  return false;
}

/// Whether `op` is exp(scores - maximum), zero where scores are hidden.
static bool isPower(linalg::GenericOp op, Causal &causal) {
  auto exp = dyn_cast_or_null<math::ExpOp>(yielded(op));
  auto difference =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  if (!difference ||
      operandOf(difference.getLhs(), op) != causal.scores->getResult(0))
    return false;
  auto isMaximum = [&](Value value) {
    Value operand = operandOf(value, op);
    return operand && operand.getDefiningOp() == causal.maximum;
  };
  // Of minus infinity: zero, but for a maximum that is minus infinity too.
  bool isInfinite = causal.hidden.isInfinity() && causal.hidden.isNegative();
  Value shift = difference.getRhs();
  if (auto choice = shift.getDefiningOp<arith::SelectOp>()) {
    auto compare = choice.getCondition().getDefiningOp<arith::CmpFOp>();
    std::optional<APFloat> instead = numberOf(choice.getTrueValue());
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ ||
        !isMaximum(compare.getLhs()) || !isMaximum(choice.getFalseValue()))
      return false;
    std::optional<APFloat> to = numberOf(compare.getRhs());
    return isInfinite && to && to->isInfinity() && to->isNegative() &&
           instead && instead->isFinite();
  }
  if (!isMaximum(shift))
    return false;
  auto init =
      causal.maximum.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  std::optional<APFloat> least =
      init ? numberOf(init.getInputs().front()) : std::nullopt;
  if (!least || !least->isFinite() || isInfinite)
    return least && least->isFinite();
  // The exponential is zero in every format from some -1100 on.
  return causal.hidden.convertToDouble() - least->convertToDouble() < -2000;
}

static std::optional<Causal> findCausal(const Nest &nest, Axis column) {
  for (const Stage &stage : nest.stages) {
    linalg::GenericOp op = stage.op;
    auto choice = dyn_cast_or_null<arith::SelectOp>(yielded(op));
    std::optional<unsigned> loop = stage.loopOf(column);
    if (!choice || stage.isReduction() || !loop)
      continue;
    std::optional<APFloat> hidden = numberOf(choice.getFalseValue());
    Causal causal;
    causal.scores = op;
    if (!hidden || hidden->isNaN() ||
        !findBound(choice.getCondition(), *loop, causal))
      continue;
    causal.hidden = *hidden;
    return causal;
  }
  return std::nullopt;
}

/// The ops that read the only result of `op`.
static SmallVector<linalg::GenericOp> readersOf(linalg::GenericOp op) {
  SmallVector<linalg::GenericOp> readers;
  for (auto reader : op->getBlock()->getOps<linalg::GenericOp>())
    if (llvm::any_of(KernelGraph::reads(reader), [&](auto read) {
          return read.first.getDefiningOp() == op;
        }))
      readers.push_back(reader);
  return readers;
}

void NestEmitter::findHidden() {
  std::optional<Causal> causal = findCausal(nest, *nest.columns);
  if (!causal)
    return;
  Value scores = causal->scores->getResult(0);
  SmallVector<linalg::GenericOp> readers = readersOf(causal->scores);
  for (linalg::GenericOp reader : readers)
    if (reduces(reader, scores, arith::AtomicRMWKind::maximumf))
      causal->maximum = reader;
  if (!causal->maximum || readers.size() != 2)
    return;
  auto init =
      causal->maximum.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  std::optional<APFloat> least =
      init ? numberOf(init.getInputs().front()) : std::nullopt;
  if (!least || *least < causal->hidden)
    return;
  causal->powers = readers[0] == causal->maximum ? readers[1] : readers[0];
  if (!isPower(causal->powers, *causal))
    return;
  // Sums of powers, alone or as a factor.
  Value powers = causal->powers->getResult(0);
  SmallVector<linalg::GenericOp> sums = readersOf(causal->powers);
  for (linalg::GenericOp sum : sums) {
    if (reduces(sum, powers, arith::AtomicRMWKind::addf))
      continue;
    auto add = dyn_cast_or_null<arith::AddFOp>(yielded(sum));
    std::optional<Combiner> combiner = Combiner::match(sum, 0);
    if (!add || !combiner)
      return;
    bool isFactor = llvm::any_of(add->getOperands(), [&](Value operand) {
      auto product = operand.getDefiningOp<arith::MulFOp>();
      return product && isBody(operand, sum) &&
             llvm::any_of(product->getOperands(), [&](Value factor) {
               return operandOf(factor, sum) == powers;
             });
    });
    if (!isFactor)
      return;
  }
  // Nothing else has these columns, but what makes the scores.
  for (const Stage &stage : nest.stages) {
    auto loop = stage.loopOf(*nest.columns);
    if (!loop)
      continue;
    linalg::GenericOp op = stage.op;
    for (OpResult result : op->getResults())
      if (stage.isParallel(*loop) && destinations.count(result))
        return;
    if (op == causal->scores || op == causal->maximum || op == causal->powers ||
        llvm::is_contained(sums, op))
      continue;
    if (!stage.isParallel(*loop) ||
        readersOf(op) != SmallVector<linalg::GenericOp>{causal->scores})
      return;
  }
  lastVisible = causal->last;
  moreVisible = causal->more;
  maskedOp = causal->scores;
}

/// `value` of the body of a structured op at a point; null where it depends on
/// elements.
static Value evaluate(Value value, linalg::GenericOp op, OpBuilder &builder,
                      function_ref<Value(unsigned)> index, IRMapping &done) {
  if (!isBody(value, op))
    return value;
  if (Value known = done.lookupOrNull(value))
    return known;
  Operation *inner = value.getDefiningOp();
  if (!inner)
    return {};
  if (auto loop = dyn_cast<linalg::IndexOp>(inner))
    return index(loop.getDim());
  if (inner->getNumRegions() || !isPure(inner) ||
      isa<tensor::TensorDialect>(inner->getDialect()))
    return {};
  for (Value operand : inner->getOperands()) {
    Value at = evaluate(operand, op, builder, index, done);
    if (!at)
      return {};
    done.map(operand, at);
  }
  return builder.clone(*inner, done)->getResult(0);
}

Value NestEmitter::visibleColumns(const Points &points) {
  Value zero = emitter.constant(0), size = sizes[*nest.columns];
  Value most = zero;
  const Stage *stage = llvm::find_if(
      nest.stages, [&](const Stage &each) { return each.op == maskedOp; });
  for (const Point &point : points) {
    IRMapping done;
    Value last = evaluate(
        lastVisible, maskedOp, builder,
        [&](unsigned loop) -> Value {
          Lanes at = point.at.lookup(stage->axes[loop]);
          return at.isUniform() ? at.value : Value();
        },
        done);
    if (!last)
      return size;
    Value count = emitter.add(last, emitter.constant(moreVisible));
    most = arith::MaxSIOp::create(builder, loc, most, count);
  }
  return arith::MinSIOp::create(builder, loc, most, size);
}
