//===- RowBlocks.cpp - contractions fused by blocks of rows ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognizes attention by its loops: a contraction, ops on its rows, and a
// contraction that sums over its columns,
//
//   s[b, i, j] = Σ_d q[b, i, d] k[b, j, d]     ┐
//   t[b, i]    = a reduction of s over j       │ share b and i
//   y[b, i, e] = Σ_j f(s, t)[b, i, j] v[b, j, e] ┘
//
// Separate loops for each of these would write and read all of s. Instead, all
// of them run for one block of rows i at a time, with intermediates in a few
// rows of cache. The rows are the axes along which one operand of each
// contraction does not change, as k and v do not change with i. Several such
// axes (the queries, and the heads of a group that share keys) are merged into
// one, so that a single query also fills a block.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "Target/Schedule/Combiner.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Selection of nests
//===----------------------------------------------------------------------===//

std::optional<Nest> KernelGraph::joined(ArrayRef<Nest> parts) const {
  Nest nest;
  for (const Nest &part : parts)
    llvm::append_range(nest.stages, part.stages);
  nest.outer = sharedAxes(nest.stages);
  const Stage *first = nullptr, *last = nullptr;
  for (const Stage &stage : nest.stages)
    if (stage.isContraction()) {
      if (!first)
        first = &stage;
      last = &stage;
    }
  if (nest.outer.empty() || first == last)
    return std::nullopt;
  // Vectors of a contraction must run along an axis that is not an outer axis.
  auto hasLanes = [&](const Stage &stage) {
    return stage.lanes && !nest.isOuter(*stage.lanes);
  };
  if (!hasLanes(*first) || !hasLanes(*last))
    return std::nullopt;
  // A column is an axis of the first contraction that a stage in between
  // reduces and the last contraction sums over.
  auto reduces = [](const Stage &stage, Axis axis) {
    auto loop = stage.loopOf(axis);
    return loop && !stage.isParallel(*loop);
  };
  auto isColumn = [&](Axis axis) {
    return first->isParallel(*first->loopOf(axis)) && !nest.isOuter(axis) &&
           reduces(*last, axis) &&
           llvm::any_of(nest.stages, [&](const Stage &stage) {
             return !stage.isContraction() && reduces(stage, axis);
           });
  };
  const auto *column = llvm::find_if(first->axes, isColumn);
  auto isInner = [&](Axis axis) {
    return last->isParallel(*last->loopOf(axis)) && !nest.isOuter(axis);
  };
  const auto *inner = llvm::find_if(last->axes, isInner);
  if (column == first->axes.end() || inner == last->axes.end())
    return std::nullopt;
  for (Axis axis : nest.outer)
    if (first->isShared(axis, *column) && last->isShared(axis, *inner))
      nest.rows.push_back(axis);
  if (nest.rows.empty())
    return std::nullopt;
  nest.columns = *column;
  for (Stage &stage : nest.stages)
    stage.lanes = chooseLanes(stage, nest.outer);
  return nest;
}

void KernelGraph::joinRowBlocks() {
  for (size_t begin = 0; begin < nests.size(); ++begin)
    for (size_t end = nests.size(); end > begin + 1; --end) {
      std::optional<Nest> nest =
          joined(ArrayRef(nests).slice(begin, end - begin));
      if (!nest)
        continue;
      nests[begin] = std::move(*nest);
      nests.erase(nests.begin() + begin + 1, nests.begin() + end);
      break;
    }
}

bool KernelGraph::readsAtPoint(linalg::GenericOp op, OpResult result) const {
  linalg::GenericOp source = producer(result);
  AffineMap own = source.getIndexingMapMatchingResult(result);
  return llvm::all_of(reads(op), [&](auto read) {
    auto [tensor, map] = read;
    if (tensor != Value(result))
      return true;
    if (!map)
      return false;
    for (auto [at, expr] : llvm::zip_equal(map.getResults(), own.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(at);
          !dim || axisOf(op, dim.getPosition()) !=
                      axisOf(source, cast<AffineDimExpr>(expr).getPosition()))
        return false;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The pseudo-axis for several merged row axes.
static constexpr Axis joinedRows = 1u << 30;

void NestEmitter::chooseRowLevels() {
  for (Axis axis : nest.outer)
    if (!llvm::is_contained(nest.rows, axis))
      levels.push_back({axis});
  Level rows{nest.rows.front(), 6};
  if (nest.rows.size() > 1) {
    rows.axis = joinedRows;
    rows.parts = nest.rows;
    Value product = emitter.constant(1);
    for (Axis axis : rows.parts)
      product = emitter.multiply(product, sizes[axis]);
    sizes[joinedRows] = product;
  }
  rows.unit = rows.points;
  // If the number of rows is a known multiple, use it as the size of a smaller
  // block.
  int64_t multiple = 1;
  for (Axis axis : nest.rows)
    multiple *= staticSize(axis).value_or(1);
  if (multiple == 1 || multiple > rows.points)
    rows.tails = {3, 1};
  else if (rows.points % multiple == 0)
    rows.tails = {multiple};
  else
    rows.tails = {multiple, 1};
  levels.push_back(rows);
}

void NestEmitter::formGroups() {
  for (const Stage &stage : nest.stages) {
    if (!nest.rows.empty() && !groups.empty() &&
        mayFollow(groups.back(), stage))
      groups.back() = ArrayRef(groups.back().data(), groups.back().size() + 1);
    else
      groups.push_back(stage);
  }
}

std::optional<Axis> NestEmitter::acrossOf(const Stage &stage) const {
  if (nest.rows.empty() || !stage.isReduction() || !stage.lanes ||
      stage.op->getNumResults() != 1 || !Combiner::match(stage.op, 0))
    return std::nullopt;
  AffineMap map = stage.op.getIndexingMapMatchingResult(stage.op->getResult(0));
  SmallVector<Axis> inner = innerAxes(stage);
  if (stage.isParallel(*stage.loopOf(*stage.lanes)) || inner.empty() ||
      map.getNumResults() == 0)
    return std::nullopt;
  Axis last = stage.axes[map.getDimPosition(map.getNumResults() - 1)];
  if (inner.back() != last)
    return std::nullopt;
  return last;
}

bool NestEmitter::mayFollow(ArrayRef<Stage> group, const Stage &stage) const {
  const Stage &first = group.front();
  std::optional<Axis> lanes = acrossOf(first);
  if (!lanes)
    lanes = lanesOf(first);
  if (stage.isReduction() || !lanes || lanes != lanesOf(stage) ||
      innerAxes(first) != innerAxes(stage) ||
      !llvm::is_contained(innerAxes(first), *lanes))
    return false;
  bool isAtPoint = true;
  graph.visitInlined(stage.op, [&](linalg::GenericOp op) {
    for (const Stage &earlier : group)
      for (OpResult result : earlier.op->getResults())
        isAtPoint &= graph.readsAtPoint(op, result);
  });
  return isAtPoint;
}

bool NestEmitter::isLocal(OpResult result) const {
  for (linalg::GenericOp reader :
       result.getOwner()->getBlock()->getOps<linalg::GenericOp>()) {
    bool reads = llvm::any_of(KernelGraph::reads(reader), [&](auto read) {
      return read.first == Value(result);
    });
    if (!reads)
      continue;
    for (ArrayRef<Stage> group : groups) {
      bool isReader = false, isMaker = false;
      for (const Stage &stage : group) {
        isMaker |= stage.op == result.getOwner();
        graph.visitInlined(
            stage.op, [&](linalg::GenericOp op) { isReader |= op == reader; });
      }
      if (isReader && !isMaker)
        return false;
    }
  }
  return true;
}

Value NestEmitter::overwritten(const Stage &stage, OpResult result) const {
  if (nest.rows.empty() || stage.isReduction())
    return {};
  auto axes = [&](OpResult of) {
    auto op = cast<linalg::GenericOp>(of.getOwner());
    return llvm::map_to_vector(
        op.getIndexingMapMatchingResult(of).getResults(), [&](AffineExpr at) {
          return graph.axisOf(op, cast<AffineDimExpr>(at).getPosition());
        });
  };
  for (const auto &[before, dims] : rows) {
    auto value = cast<OpResult>(before);
    bool isTaken = llvm::any_of(inPlace, [&, before = before](auto pair) {
      return pair.second == before;
    });
    if (isTaken || before.getType() != result.getType() ||
        axes(value) != axes(result) || !graph.readsAtPoint(stage.op, value))
      continue;
    // `stage` must read it and must be the last to do so; ops that are inlined
    // into `stage` must not read it.
    bool isRead = false, isLast = true, isBehind = false;
    for (const Stage &other : nest.stages) {
      isBehind |= other.op == stage.op;
      graph.visitInlined(other.op, [&, before = before](linalg::GenericOp op) {
        for (auto [tensor, map] : KernelGraph::reads(op))
          if (isBehind && tensor == before)
            (op == stage.op ? isRead : isLast) = op == stage.op;
      });
    }
    if (isRead && isLast)
      return before;
  }
  return {};
}
