//===- LaunchDecisions.cpp - launch configuration of a nest ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Launch/LaunchEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Threads per block in the form `columns`, and the maximum number of columns
/// for it.
static constexpr int64_t columnThreads = 512, maxColumns = 1 << 16;
/// Limit on the shared memory for results of row stages, in bytes.
static constexpr int64_t maxSharedBytes = 32 << 10;

SmallVector<Axis> LaunchEmitter::axesOf(const Stage &stage,
                                        bool reduced) const {
  SmallVector<Axis> axes;
  for (auto [loop, axis] : llvm::enumerate(stage.axes))
    if (stage.isParallel(loop) != reduced && (reduced || !nest.isOuter(axis)))
      axes.push_back(axis);
  // Adjacent threads process adjacent elements.
  if (stage.lanes)
    if (auto *found = llvm::find(axes, *stage.lanes); found != axes.end())
      std::rotate(found, found + 1, axes.end());
  return axes;
}

SmallVector<Axis> LaunchEmitter::lanesOf(const Nest &nest) {
  SmallVector<Axis> inner, outer;
  for (const Stage &stage : nest.stages) {
    if (!stage.lanes)
      continue;
    SmallVector<Axis> &axes = nest.isOuter(*stage.lanes) ? outer : inner;
    if (!llvm::is_contained(axes, *stage.lanes))
      axes.push_back(*stage.lanes);
  }
  return inner.empty() ? outer : inner;
}

int64_t LaunchEmitter::chooseWidth(const KernelGraph &graph, const Nest &nest) {
  SmallVector<Axis> axes = lanesOf(nest);
  DenseMap<Axis, int64_t> sizes;
  int64_t narrowest = 16;
  bool isRegular = !axes.empty(), isFlat = true;
  auto see = [&](linalg::GenericOp op, Type type, AffineMap map) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isRegular)
      return;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<Axis> runs;
      expr.walk([&](AffineExpr part) {
        if (auto loop = dyn_cast<AffineDimExpr>(part))
          if (Axis axis = graph.axisOf(op, loop.getPosition());
              llvm::is_contained(axes, axis))
            runs = axis;
      });
      if (!runs)
        continue;
      // An axis may only run along contiguous memory, or not appear at all.
      isRegular &= isa<AffineDimExpr>(expr) && dim + 1 == map.getNumResults();
      isFlat &= map.getNumResults() == 1;
      if (!tensor.isDynamicDim(dim))
        sizes[*runs] = tensor.getDimSize(dim);
      narrowest = std::min<int64_t>(
          narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
    }
  };
  for (const Stage &stage : nest.stages)
    graph.visitInlined(stage.op, [&](linalg::GenericOp op) {
      op.getBody()->walk(
          [&](Operation *inner) { isRegular &= !inner->getNumRegions(); });
      for (OpOperand &operand : op->getOpOperands())
        see(op, operand.get().getType(), op.getMatchingIndexingMap(&operand));
    });
  int64_t width = 16 / narrowest;
  // In a flat nest, a thread processes the remainder one element at a time.
  isFlat &= axes == nest.outer && llvm::none_of(nest.stages, [](auto &stage) {
              return stage.isReduction();
            });
  for (Axis axis : axes)
    isRegular &= sizes.count(axis) ? sizes[axis] % width == 0 : isFlat;
  return isRegular ? width : 1;
}

bool LaunchEmitter::isVector(const Stage &stage, const Point &point) const {
  return llvm::any_of(
      stage.axes, [&](Axis axis) { return point.lookup(axis).stride != 0; });
}

bool LaunchEmitter::chooseRows() {
  // The number of threads that a row can keep busy.
  int64_t wanted = 0;
  bool isReduced = true; // reductions only, so no shared memory is needed
  for (const Stage &stage : nest.stages) {
    SmallVector<Axis> inner = axesOf(stage, /*reduced=*/false);
    // A reduction along contiguous memory is divided among the threads.
    bool together = inner.empty() && stage.isReduction() && stage.lanes &&
                    !stage.isParallel(*stage.loopOf(*stage.lanes));
    isReduced &= inner.empty();
    if (inner.empty() && !together)
      continue;
    int64_t work = 1;
    for (Axis axis : inner.empty() ? axesOf(stage, true) : inner)
      work = llvm::SaturatingMultiply<uint64_t>(
          work, getConstantIntValue(sizes[axis]).value_or(1024));
    wanted = std::max(wanted, work / emitter.lanes);
  }
  if (wanted == 0 || (nest.stages.size() == 1 && wanted < 8))
    return false;
  if (isReduced && wanted <= stepsAtOnce * subgroupSize) {
    threads = subgroupSize;
    rowsOfBlock = 4;
  } else {
    threads = std::clamp<int64_t>(llvm::alignTo(wanted, subgroupSize),
                                  subgroupSize, 8 * subgroupSize);
  }
  return true;
}

bool LaunchEmitter::chooseColumns() {
  // Requires one reduction, followed by point-by-point ops on its results.
  const Stage &first = nest.stages.front();
  if (!first.isReduction() || !first.lanes || !nest.isOuter(*first.lanes))
    return false;
  for (const Stage &stage : nest.stages)
    if ((&stage != &first && stage.isReduction()) ||
        !axesOf(stage, /*reduced=*/false).empty())
      return false;
  for (unsigned i = 0; i < first.op->getNumResults(); ++i) {
    std::optional<Combiner> combiner = Combiner::match(first.op, i);
    Type type = getElementTypeOrSelf(first.op->getResultTypes()[i]);
    if (!combiner || type.isInteger(1))
      return false;
    combiners.push_back(*combiner);
  }
  // Only worthwhile for long sums of few points; without splitting these, most
  // of the GPU would be idle.
  auto known = [&](Axis axis) {
    return getConstantIntValue(sizes[axis]).value_or(ShapedType::kDynamic);
  };
  int64_t length = 1, points = 1;
  for (Axis axis : axesOf(first, /*reduced=*/true))
    length *= ShapedType::isDynamic(known(axis)) ? 1024 : known(axis);
  for (Axis axis : nest.outer)
    points *= ShapedType::isDynamic(known(axis)) ? 1 : known(axis);
  if (length < 256 || points / emitter.lanes > maxColumns)
    return false;
  column = *first.lanes;
  int64_t size = known(column);
  width = subgroupSize;
  if (!ShapedType::isDynamic(size))
    while (width > 8 &&
           width / 2 >= size / (isWide(column) ? emitter.lanes : 1))
      width /= 2;
  threads = columnThreads;
  return true;
}

Value LaunchEmitter::allocateShared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return launch.addWorkgroupAttribution(
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space), loc);
}

bool LaunchEmitter::isReadLater(OpResult result) const {
  return graph.isReadLater(result, nest);
}

void LaunchEmitter::chooseStorage() {
  for (const Output &output : graph.outputs)
    destinations[output.value].push_back(output.buffer);
  int64_t sharedBytes = 0;
  for (const Stage &stage : nest.stages)
    for (OpResult result : stage.op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      AffineMap map = stage.op.getIndexingMapMatchingResult(result);
      auto axisOf = [&](unsigned dim) {
        return stage.axes[map.getDimPosition(dim)];
      };
      SmallVector<unsigned> inner, all;
      for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
        all.push_back(dim);
        if (!nest.isOuter(axisOf(dim)))
          inner.push_back(dim);
      }
      auto allocate = [&](ArrayRef<unsigned> dims, bool shared) -> Value {
        SmallVector<int64_t> shape;
        SmallVector<Value> dynamic;
        for (unsigned dim : dims) {
          shape.push_back(type.getDimSize(dim));
          if (type.isDynamicDim(dim))
            dynamic.push_back(sizes[axisOf(dim)]);
        }
        auto buffer = MemRefType::get(shape, type.getElementType());
        if (!shared)
          return memref::AllocOp::create(builder, loc, buffer, dynamic,
                                         builder.getI64IntegerAttr(64));
        return allocateShared(shape, type.getElementType());
      };
      auto found = destinations.find(result);
      bool isOutput = found != destinations.end();
      if (isReadLater(result)) {
        if (!isOutput) {
          auto known = storage.find(result);
          destinations[result].push_back(known != storage.end()
                                             ? known->second.buffer
                                             : allocate(all, false));
        }
        exported[result] = destinations[result].front();
        isOutput = true;
      }
      if (inner.empty()) {
        emitter.storage[result] = {};
        continue;
      }
      if (isOutput) {
        emitter.storage[result] = {destinations[result].front(), all};
        continue;
      }
      bool isStatic = llvm::none_of(
          inner, [&](unsigned dim) { return type.isDynamicDim(dim); });
      int64_t bytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
      for (unsigned dim : inner)
        bytes *= isStatic ? type.getDimSize(dim) : 0;
      if (threads && isStatic && sharedBytes + bytes <= maxSharedBytes) {
        sharedBytes += bytes;
        emitter.storage[result] = {allocate(inner, true), inner};
      } else {
        Value buffer = allocate(all, false);
        destinations[result].push_back(buffer);
        emitter.storage[result] = {buffer, all};
      }
    }
}
