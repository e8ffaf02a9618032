//===- NestDecisions.cpp - work division and storage in a nest ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

std::optional<int64_t> NestEmitter::staticSize(Axis axis) const {
  return getConstantIntValue(sizes.lookup(axis));
}

std::optional<Axis> NestEmitter::lanesOf(const Stage &stage) const {
  return outerLanes ? outerLanes : stage.lanes;
}

void NestEmitter::chooseLevels() {
  if (!nest.rows.empty())
    return chooseRowLevels();
  // The most expensive stage decides: the first reduction, if there is one.
  const Stage *main = &nest.stages.back();
  for (const Stage &stage : nest.stages)
    if (stage.isReduction()) {
      main = &stage;
      break;
    }
  if (main->lanes && nest.isOuter(*main->lanes))
    outerLanes = main->lanes;
  bool allInRegisters = llvm::all_of(nest.stages, [&](const Stage &stage) {
    return stage.op.getNumParallelLoops() == nest.outer.size();
  });

  int64_t columns = 1;
  if (main->isReduction())
    columns = emitter.fewRegisters ? 2 : 4;
  else if (costOf(main->op) < 12 && nest.stages.size() == 1)
    columns = 2;

  std::optional<Axis> row, column;
  if (outerLanes && main->isReduction()) {
    for (Axis axis : llvm::reverse(nest.outer))
      if (axis != *outerLanes && !row && main->isShared(axis, *outerLanes))
        row = axis;
  } else if (!outerLanes && main->isReduction() && allInRegisters) {
    for (Axis axis : llvm::reverse(nest.outer)) {
      if (!column)
        column = axis;
      else if (!row && main->isShared(axis, *column))
        row = axis;
    }
    if (!row)
      column.reset();
  }

  for (Axis axis : nest.outer)
    if (axis != row && axis != column && axis != outerLanes)
      levels.push_back({axis});
  if (outerLanes)
    levels.push_back({*outerLanes, columns, emitter.lanes});
  if (column)
    levels.push_back({*column, 4, 1});
  if (row) {
    levels.push_back({*row, outerLanes ? 6 : 4, 1});
    levels.back().balanced = outerLanes.has_value();
  }
  for (Level &level : levels)
    level.unit = level.step();
  if (column)
    for (Level &level : MutableArrayRef(levels).take_back(2))
      level.singleTail = true;
  // Give a thread enough rows to amortize loading the panel of the other
  // operand.
  if (row)
    levels.back().unit = levels.back().step() * 16;
  if (row && outerLanes)
    choosePanel(*main, *row);
}

void NestEmitter::chooseStorage() {
  for (const Output &output : graph.outputs)
    destinations[output.value].push_back(output.buffer);
  DenseSet<Value> taken;
  for (auto [index, stage] : llvm::enumerate(nest.stages)) {
    for (OpResult result : stage.op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      AffineMap map = stage.op.getIndexingMapMatchingResult(result);
      SmallVector<unsigned> inner, all;
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        all.push_back(dim);
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (!nest.isOuter(stage.axes[loop]))
          inner.push_back(dim);
      }
      // Find the readers.
      bool readLater = false, readHere = false, onlyStages = true;
      Value shared;
      for (auto [reader, here] : graph.readersOf(result, nest)) {
        (here ? readHere : readLater) = true;
        onlyStages &= graph.isStage(reader);
        // Try to share the destination of the last reader if that reads the
        // element that it overwrites.
        if (reader == nest.stages.back().op && !reader.getNumReductionLoops() &&
            reader->getNumResults() == 1)
          for (OpOperand &operand : reader->getOpOperands())
            if (operand.get() == result &&
                reader.getMatchingIndexingMap(&operand) ==
                    reader.getIndexingMapMatchingResult(reader->getResult(0)))
              if (auto found = destinations.find(reader->getResult(0));
                  found != destinations.end() &&
                  cast<MemRefType>(found->second.front().getType())
                          .getElementType() == type.getElementType())
                shared = found->second.front();
      }
      auto found = destinations.find(result);
      bool isOutput = found != destinations.end();
      // This requires that all other readers run before the last one writes,
      // and that the buffer does not hold another value yet.
      if (!onlyStages || (shared && taken.contains(shared)))
        shared = Value();
      if (readLater ||
          (readHere && !inner.empty() && outerLanes && !isOutput && !shared)) {
        // Allocate a buffer for the whole result.
        if (!isOutput) {
          SmallVector<Value> dynamic;
          for (auto [dim, expr] : llvm::enumerate(map.getResults()))
            if (type.isDynamicDim(dim))
              dynamic.push_back(
                  sizes[stage.axes[cast<AffineDimExpr>(expr).getPosition()]]);
          Value buffer = memref::AllocOp::create(
              builder, loc,
              MemRefType::get(type.getShape(), type.getElementType()), dynamic,
              builder.getI64IntegerAttr(64));
          destinations[result].push_back(buffer);
        }
        if (readLater)
          exported[result] = destinations[result].front();
        isOutput = true;
      }
      if (inner.empty()) {
        emitter.storage[result] = {};
      } else if (!nest.rows.empty() && !isOutput && isLocal(result)) {
        emitter.storage[result].perColumn = true;
      } else if (isOutput) {
        emitter.storage[result] = {destinations[result].front(), all};
      } else if (shared) {
        taken.insert(shared);
        emitter.storage[result] = {shared, all};
        destinations[result].push_back(shared);
      } else {
        if (Value before = overwritten(stage, result))
          inPlace[result] = before;
        rows.emplace_back(result, inner);
      }
    }
  }
}

void NestEmitter::allocateRows() {
  allocatePanel();
  for (auto &[result, dims] : rows) {
    if (Value before = inPlace.lookup(result)) {
      emitter.storage[result] = emitter.storage[before];
      continue;
    }
    auto type = cast<RankedTensorType>(result.getType());
    auto op = result.getDefiningOp<linalg::GenericOp>();
    AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    if (!nest.rows.empty())
      shape.push_back(levels.back().points);
    for (unsigned dim : dims) {
      shape.push_back(type.getDimSize(dim));
      if (type.isDynamicDim(dim))
        dynamic.push_back(sizes[graph.axisOf(op, map.getDimPosition(dim))]);
    }
    Value buffer = memref::AllocOp::create(
        builder, loc, MemRefType::get(shape, type.getElementType()), dynamic,
        builder.getI64IntegerAttr(64));
    emitter.storage[result] = {buffer, dims, !nest.rows.empty()};
  }
}
