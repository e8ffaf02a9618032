//===- Panels.cpp - operands of contractions packed for a block -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a contraction, all rows read the same columns of one operand:
//
//   for a block of columns
//     copy the operand's elements for all steps of the sum     a panel
//     for blocks of rows
//       for the steps of the sum                  reads the panel in order
//
// In the operand itself, each step is far from the one before: a convolution of
// 64 channels reads 64 pages of memory for each block. If there are many rows,
// copying costs little, and so do strided loads and computed elements, which
// are done once for all rows.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/NestEmitter.h"

using namespace mlir;
using namespace mlir::relax;

/// Copying an element costs about as much as a step of one block of rows.
static constexpr int64_t minRows = 24;
/// A panel must stay in the second-level cache while all rows read it.
static constexpr int64_t maxPanelBytes = 192 * 1024;

void NestEmitter::choosePanel(const Stage &stage, Axis row) {
  std::optional<int64_t> rows = staticSize(row);
  if (!rows || *rows < minRows || !stage.isContraction())
    return;
  int64_t steps = 1;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop)) {
      std::optional<int64_t> size = staticSize(axis);
      if (!size || *size == 0)
        return;
      steps *= *size;
    }
  for (OpOperand *input : stage.op.getDpsInputOperands()) {
    AffineMap map = stage.op.getMatchingIndexingMap(input);
    if (map.isFunctionOfDim(*stage.loopOf(row)) ||
        !map.isFunctionOfDim(*stage.loopOf(*outerLanes)))
      continue;
    Type element = getElementTypeOrSelf(input->get().getType());
    int64_t width = levels[levels.size() - 2].step();
    if (!element.isIntOrFloat() || element.isInteger(1) ||
        steps * width * element.getIntOrFloatBitWidth() > 8 * maxPanelBytes)
      return;
    panel = {&stage, input->getOperandNumber(),
             MemRefType::get({steps, width}, element), Value()};
    return;
  }
}

void NestEmitter::allocatePanel() {
  if (panel)
    panel->buffer = memref::AllocOp::create(
        builder, loc, panel->type, ValueRange(), builder.getI64IntegerAttr(64));
}

Value NestEmitter::stepAt(const Stage &stage, const Point &point) {
  Value step = emitter.constant(0);
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop))
      step = emitter.add(emitter.multiply(step, sizes[axis]),
                         point.at.lookup(axis).value);
  return step;
}

void NestEmitter::packPanel() {
  const Stage &stage = *panel->stage;
  PointEmitter::Scope scope(emitter);
  Point corner;
  // The operand is the same for all rows.
  for (auto [level, block] : llvm::zip(levels, blocks))
    corner.at[level.axis] = {block.base};
  corner.at[levels.back().axis] = {emitter.constant(0)};
  Block columns = blocks[levels.size() - 2];
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (!stage.isParallel(loop))
      axes.push_back(axis);
  std::function<void(ArrayRef<Axis>, const Point &)> pack =
      [&](ArrayRef<Axis> left, const Point &at) {
        if (!left.empty())
          return loop(emitter.constant(0), sizes[left.front()], 1,
                      [&](Value base) {
                        Point next = at;
                        next.at[left.front()] = {base};
                        pack(left.drop_front(), next);
                      });
        Value step = stepAt(stage, at);
        for (int64_t i = 0; i < columns.points; ++i) {
          PointEmitter::Scope scope(emitter);
          Point point = at;
          Value offset = emitter.constant(i * emitter.lanes);
          Value base = emitter.add(columns.base, offset);
          point.at[*outerLanes] = {base, 1};
          if (columns.partial && i + 1 == columns.points)
            point.mask = maskFor(base, *outerLanes);
          enter(point);
          FailureOr<Lanes> value =
              emitter.operand(stage.op, panel->operand, loopsAt(stage, point));
          emitter.mask = Value();
          if (failed(value) ||
              failed(emitter.store({emitter.vector(*value), 0, true},
                                   panel->buffer, {{step}, {offset, 1}})))
            return fail();
        }
      };
  pack(axes, corner);
}

SmallVector<Value> NestEmitter::readPanel(const Points &points) {
  auto type = VectorType::get({emitter.lanes}, panel->type.getElementType());
  Value step = stepAt(*panel->stage, points.front());
  auto columns = llvm::seq(blocks[levels.size() - 2].points);
  return llvm::map_to_vector(columns, [&](int64_t i) -> Value {
    Value offset = emitter.constant(i * emitter.lanes);
    return vector::LoadOp::create(builder, loc, type, panel->buffer,
                                  ValueRange{step, offset});
  });
}
