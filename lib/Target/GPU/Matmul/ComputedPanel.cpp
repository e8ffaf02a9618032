//===- ComputedPanel.cpp - computed operands of a matmul ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand that is computed element by element, such as a dequantized matrix,
// goes through registers to shared memory. The inputs of a stage are loaded
// before the previous stage is multiplied; the stage is computed and stored
// after that, so that the loads overlap with the products. Past the end of the
// matrix, its last elements are read again; they are multiplied by zeros or
// belong to columns that are discarded.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Decoded.h"
#include "Target/GPU/Matmul/MatmulEmitter.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr int64_t chunk = 8;

FailureOr<MatmulEmitter::Computed>
MatmulEmitter::prepareUnits(const DepthUnits &units, const Tile &tile,
                            int64_t base) {
  Computed computed{units, {}, 1};
  for (Axis axis : units.within) {
    std::optional<int64_t> size = getConstantIntValue(sizes[axis]);
    if (!size)
      return failure();
    computed.size *= *size;
  }
  computed.size = std::max(computed.size, units.lanes);
  int64_t perLine = tile.depth / computed.size, threads = tile.threads();
  // Units must be contiguous along the depth.
  ArrayRef<Axis> last = ArrayRef(matmul.depth).take_back(units.within.size());
  if (tile.depth % computed.size || units.lanes % chunk ||
      (!last.empty() && last != ArrayRef<Axis>(units.within)))
    return failure();
  int64_t total = tile.columns() * perLine;
  Value columns = count(matmul.columns);
  for (int64_t done = 0; done < total; done += threads) {
    Value at = emitter.add(thread, number(done));
    Unit unit;
    if (done + threads > total)
      unit.isOn = isLess(at, number(total));
    Value line = divideBy(at, perLine);
    unit.depth = remainder(at, perLine);
    Value column = emitter.add(corner.column, line);
    if (isInside(column, columns, tile.columns()))
      column = arith::MinUIOp::create(builder, loc, column,
                                      subtract(columns, number(1)));
    unit.column = column;
    Value start =
        emitter.add(number(base), emitter.multiply(line, number(tile.depth)));
    Value first = emitter.multiply(unit.depth, number(computed.size / chunk));
    for (int64_t i = 0; i < computed.size / chunk; ++i) {
      Value place =
          turn(line, emitter.add(first, number(i)), tile.depth / chunk);
      unit.to.push_back(
          emitter.add(start, emitter.multiply(place, number(chunk))));
    }
    computed.units.push_back(unit);
  }
  return computed;
}

/// Computes the units of a step; empty on failure.
SmallVector<Value> MatmulEmitter::computeUnits(const Computed &computed,
                                               Value step, const Tile &tile) {
  const DepthUnits &shape = computed.shape;
  PointEmitter points(builder, loc, shape.lanes);
  points.alignedBuffers = emitter.alignedBuffers;
  points.storage = emitter.storage;
  PointEmitter::Scope scope(points);
  Axis lanes = matmul.depth.back();
  Value depth = count(matmul.depth);
  int64_t depthUnits = *getConstantIntValue(depth) / computed.size;
  int64_t perStep = tile.depth / computed.size;
  DenseMap<int64_t, Value> numbers;
  SmallVector<Value> values;
  for (const Unit &unit : computed.units) {
    Value at = emitter.add(emitter.multiply(step, number(perStep)), unit.depth);
    if (depthUnits % perStep)
      at = arith::MinUIOp::create(builder, loc, at, number(depthUnits - 1));
    Point point = corner.batch;
    divide(unit.column, matmul.columns, point);
    bool isWithin = llvm::is_contained(shape.within, lanes);
    // The vectorized axis counts vectors, not elements.
    wide.clear();
    if (!isWithin) {
      SmallVector<Axis> across = shape.across;
      across.pop_back();
      int64_t vectors = *getConstantIntValue(sizes[lanes]) / shape.lanes;
      divide(divideBy(at, vectors), across, point);
      point[lanes] = {
          emitter.multiply(remainder(at, vectors), number(shape.lanes)), 1};
    } else {
      divide(at, shape.across, point);
    }
    for (int64_t i = 0; i < computed.size; i += shape.lanes) {
      int64_t rest = i;
      for (Axis axis : llvm::reverse(shape.within)) {
        int64_t size = *getConstantIntValue(sizes[axis]);
        Value &known = numbers[rest % size];
        known = known ? known : number(rest % size);
        point[axis] = {known, axis == lanes ? 1 : 0};
        rest /= size;
      }
      FailureOr<Lanes> value = points.operand(matmul.stage().op, matmul.b,
                                              loopsAt(matmul.stage(), point));
      if (failed(value)) {
        fail();
        return {};
      }
      Value all = points.vector(*value);
      if (auto narrow = all.getDefiningOp<arith::TruncFOp>())
        if (getElementTypeOrSelf(narrow.getIn().getType()).isF32())
          all = arith::TruncFOp::create(
              builder, loc, all.getType(),
              withFewerOps(builder, loc, narrow.getIn()));
      values.push_back(all);
    }
  }
  return values;
}

void MatmulEmitter::storeUnits(const Computed &computed, ValueRange values,
                               Value shared, Value stage) {
  int64_t perUnit = computed.size / computed.shape.lanes;
  int64_t perVector = computed.shape.lanes / chunk;
  for (auto [index, unit] : llvm::enumerate(computed.units))
    onlyIf(unit.isOn, [&, index = index, &unit = unit] {
      for (int64_t i = 0; i < computed.size / chunk; ++i) {
        Value all = values[index * perUnit + i / perVector];
        SmallVector<int64_t> lanes = llvm::to_vector(
            llvm::seq(i % perVector * chunk, (i % perVector + 1) * chunk));
        Value some = vector::ShuffleOp::create(builder, loc, all, all, lanes);
        vector::StoreOp::create(builder, loc, some, shared,
                                emitter.add(stage, unit.to[i]),
                                /*nontemporal=*/false, llvm::MaybeAlign(16));
      }
    });
}
