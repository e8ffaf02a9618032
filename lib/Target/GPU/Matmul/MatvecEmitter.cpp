//===- MatvecEmitter.cpp - matrix-vector products on a GPU ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatvecEmitter.h"

#include "Target/GPU/Launch/Mark.h"
#include "Target/GPU/Launch/ReadFirst.h"
#include "Target/GPU/Passes.h"
#include "Target/Schedule/LongSums.h"

using namespace mlir;
using namespace mlir::relax;

/// Limits on the threads and columns per block.
static constexpr int64_t maxThreads = 128, maxWidth = 8;
/// Registers per thread for values that are loaded ahead.
static constexpr int64_t maxWords = 64;
/// The number of blocks that keeps a large GPU busy.
static constexpr int64_t manyBlocks = 512;

bool MatvecEmitter::chooseBlocks() {
  int64_t size = 1, length = 1;
  for (Axis axis : units.within) {
    std::optional<int64_t> known = getConstantIntValue(sizes[axis]);
    if (!known)
      return false;
    size *= *known;
  }
  if (size > maxUnit)
    return false;
  length = getConstantIntValue(count(units.across)).value_or(maxThreads);
  threads = std::min<int64_t>(llvm::alignTo(length, subgroupSize), maxThreads);
  // The vector is read once for all columns of a block. The more data it has
  // relative to the matrix, the more columns are worth their registers
  // (measurements suggest the square of this ratio), as long as there are
  // enough blocks.
  int64_t ratio = units.vectorBytes / units.matrixBytes;
  int64_t wanted = ratio * ratio / 2;
  if (prepared) // repeated by each block
    wanted = std::max<int64_t>(wanted, 4);
  // Each lane ends up with one sum.
  int64_t numProducts = products.size();
  int64_t most = std::min<int64_t>(maxWidth, subgroupSize);
  if (numProducts > most)
    return false;
  int64_t columns = getConstantIntValue(count(matmul.columns))
                        .value_or(maxWidth * manyBlocks);
  width = std::max<int64_t>(std::min<int64_t>(2, most) / numProducts, 1);
  while (width * numProducts < std::min(wanted, most) &&
         columns / (2 * width) >= manyBlocks)
    width *= 2;
  bool isComputed = KernelGraph::producer(matmul.operand(matmul.b)) != nullptr;
  int64_t words = isComputed
                      ? size * (isWide(matmul.depth.back()) ? emitter.lanes : 1)
                      : llvm::divideCeil(units.matrixBytes, 4);
  together = std::clamp<int64_t>(maxWords / (width * numProducts * words), 1,
                                 stepsAtOnce);
  return true;
}

LogicalResult MatvecEmitter::setUpRows() {
  auto more = emitter.sizes(*prepared);
  if (failed(more))
    return failure();
  for (auto [axis, size] : *more)
    sizes.try_emplace(axis, size);
  // Inline the last stage where its result is read.
  emitter.storage.erase(prepared->stages.back().op->getResult(0));
  bool asVectors = chooseWidth(graph, *prepared) > 1;
  for (const Stage &stage : ArrayRef(prepared->stages).drop_back()) {
    for (OpResult result : stage.op->getResults())
      emitter.storage[result] = {};
    if (!asVectors || !stage.lanes || nest.isOuter(*stage.lanes))
      continue;
    std::optional<int64_t> length = getConstantIntValue(sizes[*stage.lanes]);
    if (length && *length % emitter.lanes == 0)
      wide.push_back(*stage.lanes);
  }
  return success();
}

void MatvecEmitter::prepare(const Point &base) {
  for (const Stage &stage : ArrayRef(prepared->stages).drop_back())
    emitRowStage(stage, base);
}

/// Adds `count` steps, `threads` units apart. Loads the matrix elements, which
/// nothing writes, first.
SmallVector<Value> MatvecEmitter::addSteps(Value from, int64_t count,
                                           Value isLastOn, const Point &base,
                                           ValueRange before, bool isFirst) {
  Block *block = builder.getInsertionBlock();
  auto last = [&] {
    return builder.getInsertionPoint() == block->begin()
               ? nullptr
               : &*std::prev(builder.getInsertionPoint());
  };
  auto behind = [&](Operation *op) {
    return op ? op->getNextNode() : &block->front();
  };
  Operation *start = last();
  SmallVector<Unit> steps;
  for (int64_t i = 0; i < count; ++i) {
    Value unit = emitter.add(from, emitter.constant(i * threads));
    bool mayBeOff = isLastOn && i + 1 == count;
    if (mayBeOff) {
      Value end = LaunchEmitter::count(units.across);
      unit = arith::MinUIOp::create(
          builder, loc, unit,
          builder.createOrFold<arith::SubIOp>(loc, end, emitter.constant(1)));
    }
    steps.push_back(readUnit(unit, base));
    if (mayBeOff)
      steps.back().isOn = isLastOn;
    if (hasFailed)
      return llvm::to_vector(before);
  }
  readFirst(block, behind(start), behind(last()));
  SmallVector<Operation *> computed;
  for (Operation *op = behind(start), *end = behind(last()); op != end;
       op = op->getNextNode())
    if (isMemoryEffectFree(op))
      computed.push_back(op);
  if (isFirst && prepared)
    prepare(base);
  Operation *ready = last();
  SmallVector<Value> sums = llvm::to_vector(before);
  for (const Unit &unit : steps)
    sums = addUnit(unit, sums);
  if (hasFailed)
    return sums;
  readFirst(block, behind(ready), behind(last()));
  computeLate(computed);
  return sums;
}

SmallVector<Value> MatvecEmitter::addAll(const Point &base) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  SmallVector<Value> sums(width * products.size(), zero);
  Value total = count(units.across);
  std::optional<int64_t> known = getConstantIntValue(total);
  // The number of terms that a thread adds per unit.
  int64_t terms = *getConstantIntValue(count(units.within)) *
                  (isWide(matmul.depth.back()) ? emitter.lanes : 1);
  std::optional<Combiner> addition = Combiner{arith::AtomicRMWKind::addf};
  if (!known) {
    if (prepared)
      prepare(base);
    return addInBlocks(thread, total, threads,
                       std::max<int64_t>(maxProducts / terms, 1), sums,
                       addition, [&](Value unit, ValueRange before) {
                         return addSteps(unit, 1, {}, base, before, false);
                       });
  }
  int64_t steps = llvm::divideCeil(*known, threads), done = 0;
  bool isPartial = *known % threads != 0;
  auto add = [&](int64_t count) {
    Value from = emitter.add(thread, emitter.constant(done * threads));
    Value isLastOn;
    if (isPartial && done + count == steps) {
      Value last = emitter.add(thread, emitter.constant((steps - 1) * threads));
      isLastOn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       last, total);
    }
    sums = addSteps(from, count, isLastOn, base, sums, done == 0);
    done += count;
  };
  add(std::min(steps, together));
  // Whole rounds in a loop, then the remainder.
  int64_t rounds = (steps - done - isPartial) / together;
  if (rounds > 1 && !hasFailed) {
    int64_t stride = together * threads;
    Value begin = emitter.constant(done * threads);
    sums = addInBlocks(thread, emitter.constant(rounds * stride), stride,
                       std::max<int64_t>(maxProducts / (terms * together), 1),
                       sums, addition, [&](Value at, ValueRange before) {
                         return addSteps(emitter.add(at, begin), together, {},
                                         base, before, false);
                       });
    done += rounds * together;
  }
  while (done < steps && !hasFailed)
    add(std::min(steps - done, together));
  return sums;
}

/// Adds the sums of all threads; then one thread per column runs the epilogue.
void MatvecEmitter::finish(ValueRange sums, const Point &base) {
  int64_t groups = threads / subgroupSize, numSums = sums.size();
  Type f32 = builder.getF32Type();
  SmallVector<Value> all = llvm::to_vector(sums);
  Value across = emitter.constant(subgroupSize);
  Value group = arith::DivUIOp::create(builder, loc, thread, across);
  Value lane = arith::RemUIOp::create(builder, loc, thread, across);
  auto isLess = [&](Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                 rhs);
  };
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  };
  // In each exchange between two lanes, each lane keeps half of the sums.
  int64_t mask = subgroupSize / 2;
  for (; all.size() > 1; mask /= 2) {
    Value place =
        arith::RemUIOp::create(builder, loc, lane, emitter.constant(2 * mask));
    Value isLower = isLess(place, emitter.constant(mask));
    size_t half = all.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      Value own =
          arith::SelectOp::create(builder, loc, isLower, all[i], all[half + i]);
      Value other =
          arith::SelectOp::create(builder, loc, isLower, all[half + i], all[i]);
      all[i] = add(own, exchange(other, mask));
    }
    all.truncate(half);
  }
  for (; mask > 0; mask /= 2)
    all[0] = add(all[0], exchange(all[0], mask));
  Value shared = allocateShared({groups, numSums}, f32);
  {
    Value perSum = emitter.constant(subgroupSize / numSums);
    Value inSum = arith::RemUIOp::create(builder, loc, lane, perSum);
    auto branch =
        scf::IfOp::create(builder, loc, isLess(inSum, emitter.constant(1)));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value sum = arith::DivUIOp::create(builder, loc, lane, perSum);
    memref::StoreOp::create(builder, loc, all[0], shared,
                            ValueRange{group, sum});
  }
  gpu::BarrierOp::create(builder, loc);
  Value column = emitter.add(first, thread);
  Value inside = isLess(thread, emitter.constant(width));
  inside = arith::AndIOp::create(builder, loc, inside,
                                 isLess(column, count(matmul.columns)));
  auto branch = scf::IfOp::create(builder, loc, inside);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  PointEmitter::Scope scope(emitter);
  Point point = base;
  divide(column, matmul.columns, point);
  for (const Stage &stage : nest.stages) {
    const Matmul *found = llvm::find_if(products, [&](const Matmul &product) {
      return product.stage().op == stage.op;
    });
    if (found == products.end()) {
      emitPoint(stage, point);
      continue;
    }
    auto inits = initialValues(stage, point);
    if (failed(inits))
      return fail();
    Value sum = inits->front();
    Value at = emitter.add(
        thread, emitter.constant((found - products.begin()) * width));
    for (int64_t i = 0; i < groups; ++i)
      sum = arith::AddFOp::create(
          builder, loc, sum,
          memref::LoadOp::create(builder, loc, shared,
                                 ValueRange{emitter.constant(i), at}));
    keep(stage, point, Lanes{sum}, /*byOne=*/false);
  }
}

LogicalResult MatvecEmitter::emitProduct() {
  emitter.storage = storage;
  if (failed(findSizes()))
    return failure();
  if (prepared && failed(setUpRows()))
    return failure();
  if (!chooseBlocks())
    return failure();
  SmallVector<Axis> others = matmul.batch;
  others.append(matmul.rows);
  Value perRow = builder.createOrFold<arith::CeilDivUIOp>(
      loc, count(matmul.columns), emitter.constant(width));
  OpBuilder::InsertionGuard guard(builder);
  launch = createLaunch(emitter.multiply(perRow, count(others)), threads);
  // Use as many registers as needed while an SM can still hold a few blocks.
  launch->setDiscardableAttr("nvvm.minctasm", builder.getI32IntegerAttr(4));
  launch->setDiscardableAttr(kManyBlocksAttr, builder.getUnitAttr());
  {
    OpBuilder::InsertionGuard outside(builder);
    builder.setInsertionPoint(launch);
    chooseStorage();
  }
  PointEmitter::Scope scope(emitter);
  thread = launch.getThreadIds().x;
  Value block = launch.getBlockIds().x;
  Point base;
  divide(builder.createOrFold<arith::DivUIOp>(loc, block, perRow), others,
         base);
  first =
      emitter.multiply(builder.createOrFold<arith::RemUIOp>(loc, block, perRow),
                       emitter.constant(width));
  for (int64_t i = 0; i < maxUnit; ++i)
    number(i);
  SmallVector<Value> sums = addAll(base);
  if (hasFailed)
    return failure();
  finish(sums, base);
  return failure(hasFailed);
}

/// Whether two products differ only in their matrices, which have the same
/// layout.
static bool areAlike(const Matmul &one, const Matmul &other) {
  linalg::GenericOp first = one.stage().op, second = other.stage().op;
  auto typeOf = [](const Matmul &matmul) {
    return matmul.operand(matmul.b).getType();
  };
  return one.a == other.a && one.operand(one.a) == other.operand(other.a) &&
         typeOf(one) == typeOf(other) &&
         first.getIndexingMapsArray() == second.getIndexingMapsArray() &&
         one.depth.size() == other.depth.size() && one.rows == other.rows &&
         one.columns == other.columns && one.batch == other.batch;
}

LogicalResult relax::emitMatvec(const KernelGraph &graph,
                                ArrayRef<Matmul> products, const Nest &nest,
                                const Nest *prepared, OpBuilder &builder,
                                Location loc,
                                const DenseMap<Value, Storage> &storage,
                                unsigned subgroupSize) {
  // The positions of the depth axes that are within a unit.
  auto within = [](const DepthUnits &units, const Matmul &product) {
    return llvm::map_to_vector(units.within, [&](Axis axis) {
      return llvm::find(product.depth, axis) - product.depth.begin();
    });
  };
  const Matmul &first = products.front();
  auto units = DepthUnits::choose(graph, first, prepared);
  if (!units || !llvm::isPowerOf2_64(products.size()) ||
      products.size() > size_t(maxWidth))
    return failure();
  for (const Matmul &product : products.drop_front()) {
    auto found = DepthUnits::choose(graph, product, prepared);
    if (!found || !areAlike(first, product) || found->lanes != units->lanes ||
        within(*found, product) != within(*units, first))
      return failure();
  }
  Mark mark(builder);
  DenseMap<Value, Storage> results = storage;
  if (succeeded(MatvecEmitter(graph, products, nest, prepared, *units, builder,
                              loc, results, subgroupSize)
                    .emitProduct()))
    return success();
  mark.takeBack();
  return failure();
}
