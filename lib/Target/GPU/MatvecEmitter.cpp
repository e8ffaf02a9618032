//===- MatvecEmitter.cpp - matrices times a vector on a GPU ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/MatvecEmitter.h"

#include "Target/GPU/Decoded.h"
#include "Target/GPU/ReadFirst.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// The most elements of a unit, and the most threads and columns of a block.
static constexpr int64_t maxUnit = 64, maxThreads = 128, maxWidth = 8;
/// Registers of a thread for what it has read ahead.
static constexpr int64_t maxWords = 64;
/// Blocks that should be there, to give a large GPU work.
static constexpr int64_t manyBlocks = 512;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

std::optional<DepthUnits> DepthUnits::choose(const KernelGraph &graph,
                                             const Matmul &matmul,
                                             const Nest *prepared) {
  DepthUnits units;
  Axis last = matmul.depth.back();
  int64_t narrowest = 16;
  bool isRegular = true;
  // The axes that each tensor in memory misses of those that are summed over.
  llvm::SmallDenseSet<Axis> missed;
  // The tensors in memory that vectors run along.
  struct Read {
    bool ofMatrix;
    int64_t bytes;
    llvm::SmallDenseSet<Axis> axes;
  };
  SmallVector<Read> reads;
  DenseMap<Axis, int64_t> sizes;
  auto see = [&](linalg::GenericOp op, OpOperand &operand, bool isMatrix) {
    auto tensor = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!tensor)
      return;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    llvm::SmallDenseSet<Axis> found;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      expr.walk([&, dim = dim, expr = expr](AffineExpr part) {
        auto loop = dyn_cast<AffineDimExpr>(part);
        if (!loop)
          return;
        Axis axis = graph.axisOf(op, loop.getPosition());
        found.insert(axis);
        if (expr == part && !tensor.isDynamicDim(dim))
          sizes[axis] = tensor.getDimSize(dim);
        if (axis != last)
          return;
        // Along memory, or not at all.
        isRegular &= expr == part && dim + 1 == map.getNumResults();
        narrowest = std::min<int64_t>(
            narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
      });
    if (KernelGraph::producer(operand.get()))
      return;
    for (Axis axis : matmul.depth)
      if (isMatrix && !found.contains(axis))
        missed.insert(axis);
    if (found.contains(last))
      reads.push_back({isMatrix,
                       llvm::divideCeil(tensor.getElementTypeBitWidth(), 8),
                       found});
  };
  linalg::GenericOp product = matmul.stage().op;
  auto visit = [&](unsigned number, bool isMatrix) {
    see(product, product->getOpOperand(number), isMatrix);
    linalg::GenericOp source =
        KernelGraph::producer(product->getOperand(number));
    bool isPrepared =
        !isMatrix && prepared && source && source == prepared->stages.back().op;
    if (!source || (graph.isStage(source) && !isPrepared))
      return;
    graph.visitInlined(source, [&](linalg::GenericOp op) {
      op.getBody()->walk([&](Operation *inner) {
        isRegular &= !isa<tensor::ExtractOp>(inner) && !inner->getNumRegions();
      });
      for (OpOperand *input : op.getDpsInputOperands())
        see(op, *input, isMatrix);
    });
  };
  visit(matmul.a, /*isMatrix=*/false);
  visit(matmul.b, /*isMatrix=*/true);
  if (!isRegular || !sizes.count(last))
    return std::nullopt;
  units.lanes = 16 / narrowest;
  while (units.lanes > 1 && sizes[last] % units.lanes)
    units.lanes /= 2;
  if (units.lanes == 1)
    return std::nullopt;
  for (Axis axis : matmul.depth)
    (missed.contains(axis) ? units.within : units.across).push_back(axis);
  for (const Read &read : reads) {
    int64_t elements = missed.contains(last) ? 1 : units.lanes;
    for (Axis axis : units.within)
      if (read.axes.contains(axis))
        elements *= sizes.lookup(axis);
    (read.ofMatrix ? units.matrixBytes : units.vectorBytes) +=
        elements * read.bytes;
  }
  if (!units.matrixBytes)
    return std::nullopt;
  return units;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {

class MatvecEmitter : public LaunchEmitter {
public:
  MatvecEmitter(const KernelGraph &graph, ArrayRef<Matmul> products,
                const Nest &nest, const Nest *prepared,
                ArrayRef<DepthUnits> allUnits, OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, unsigned subgroupSize)
      : LaunchEmitter(graph, nest, builder, loc, storage, subgroupSize,
                      allUnits.front().lanes),
        products(products), matmul(products.front()), prepared(prepared),
        allUnits(allUnits), units(allUnits.front()) {
    for (const Matmul &product : products)
      wide.push_back(product.depth.back());
  }

  LogicalResult emitProduct();

private:
  /// What a thread takes at once: the vectors of the rows, and those of the
  /// matrices for each sum.
  struct Unit {
    SmallVector<Point> parts;
    SmallVector<SmallVector<Value>> elements;
    /// Whether the thread has it (null: it has).
    Value isOn;
  };

  bool chooseBlocks();
  /// A constant, the same each time, so that reads are known to be the same.
  Value number(int64_t value) {
    Value &known = numbers[value];
    return known ? known : known = emitter.constant(value);
  }
  Point columnAt(Value number, const Point &base);
  /// The axes of another product where `point` has those of the first.
  Point pointOf(size_t product, Point point) const;
  Unit readUnit(Value unit, const Point &base);
  SmallVector<Value> addUnit(const Unit &unit, ValueRange before);
  SmallVector<Value> addSteps(Value from, int64_t count, Value isLastOn,
                              const Point &base, ValueRange before,
                              bool isFirst);
  SmallVector<Value> addAll(const Point &base);
  /// What all threads must know of a row before it is multiplied.
  LogicalResult setUpRows();
  void prepare(const Point &base);
  FailureOr<Value> operandAt(size_t product, unsigned number,
                             const Point &point);
  Scaled takeApart(Value value);
  Value sumOfProducts(Value x, Value core, Value before);
  Value sumOfLanes(Value x);
  Value multiplyAdd(Value a, Value b, Value c);
  void finish(ValueRange sums, const Point &base);

  ArrayRef<Matmul> products;
  const Matmul &matmul;
  const Nest *prepared;
  ArrayRef<DepthUnits> allUnits;
  const DepthUnits &units;
  /// Columns of a block; the first of them. Steps whose reads are under way
  /// together.
  int64_t width = 1, together = 1;
  Value first;
  DenseMap<int64_t, Value> numbers;
};

} // namespace

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
  // The vector is read once for all columns of a block: the more it is, the
  // more columns are worth their registers (by measurement, as the square of
  // what it has for each byte of the matrix). But there are to be many blocks.
  int64_t ratio = units.vectorBytes / units.matrixBytes;
  int64_t wanted = ratio * ratio / 2;
  if (prepared) // each block does that
    wanted = std::max<int64_t>(wanted, 4);
  int64_t numProducts = products.size();
  int64_t columns = getConstantIntValue(count(matmul.columns))
                        .value_or(maxWidth * manyBlocks);
  width = std::max<int64_t>(2 / numProducts, 1);
  while (width * numProducts < std::min(wanted, maxWidth) &&
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

LaunchEmitter::Point MatvecEmitter::columnAt(Value number, const Point &base) {
  Value columns = count(matmul.columns);
  std::optional<int64_t> known = getConstantIntValue(columns);
  if (!known || *known % width)
    number = arith::MinUIOp::create(
        builder, loc, number,
        builder.createOrFold<arith::SubIOp>(loc, columns, emitter.constant(1)));
  Point point = base;
  divide(number, matmul.columns, point);
  return point;
}

Value MatvecEmitter::multiplyAdd(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

LaunchEmitter::Point MatvecEmitter::pointOf(size_t product, Point point) const {
  for (auto [own, other] : llvm::zip(products[product].depth, matmul.depth))
    if (auto found = point.find(other); found != point.end() && own != other)
      point[own] = Lanes(found->second);
  return point;
}

FailureOr<Value> MatvecEmitter::operandAt(size_t product, unsigned number,
                                          const Point &point) {
  const Stage &stage = products[product].stage();
  FailureOr<Lanes> found = emitter.operand(
      stage.op, number, loopsAt(stage, pointOf(product, point)));
  if (failed(found))
    return failure();
  Value value = emitter.vector(*found);
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType().isF32())
    return value;
  // What was computed is not rounded on its way to the sum.
  if (auto narrow = value.getDefiningOp<arith::TruncFOp>())
    if (getElementTypeOrSelf(narrow.getIn().getType()).isF32())
      return narrow.getIn();
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  return Value(arith::ExtFOp::create(builder, loc,
                                     type.clone(builder.getF32Type()), value));
}

Scaled MatvecEmitter::takeApart(Value value) {
  Scaled parts = Scaled::takeApart(value);
  if (auto number = parts.core.getDefiningOp<arith::UIToFPOp>())
    if (isSmall(number.getIn())) {
      parts.core = addedTo128(builder, loc, number.getIn());
      parts.bias += 128;
    }
  return parts;
}

Value MatvecEmitter::sumOfProducts(Value x, Value core, Value sum) {
  for (int64_t lane = 0; lane < emitter.lanes; ++lane) {
    Value a = vector::ExtractOp::create(builder, loc, x, lane);
    Value b = vector::ExtractOp::create(builder, loc, core, lane);
    sum = sum ? multiplyAdd(a, b, sum)
              : Value(arith::MulFOp::create(builder, loc, a, b));
  }
  return sum;
}

Value MatvecEmitter::sumOfLanes(Value x) {
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD,
                                     x, arith::FastMathFlags::reassoc);
}

MatvecEmitter::Unit MatvecEmitter::readUnit(Value unit, const Point &base) {
  Point point = base;
  divide(unit, units.across, point);
  Unit read;
  int64_t vectors = *getConstantIntValue(count(units.within));
  for (int64_t i = 0; i < vectors; ++i) {
    Point part = point;
    int64_t rest = i;
    for (Axis axis : llvm::reverse(units.within)) {
      int64_t size = *getConstantIntValue(count(axis));
      int64_t step = isWide(axis) ? emitter.lanes : 1;
      part[axis] = {number(rest % size * step), isWide(axis) ? 1 : 0};
      rest /= size;
    }
    read.parts.push_back(part);
  }
  for (size_t product = 0; product < products.size(); ++product)
    for (int64_t index = 0; index < width; ++index) {
      Point column = columnAt(emitter.add(first, emitter.constant(index)), {});
      SmallVector<Value> &elements = read.elements.emplace_back();
      for (Point part : read.parts) {
        for (Axis axis : matmul.columns)
          part[axis] = column[axis];
        FailureOr<Value> element =
            operandAt(product, products[product].b, part);
        if (failed(element)) {
          fail();
          return read;
        }
        elements.push_back(*element);
      }
    }
  return read;
}

/// What a unit adds to the sums.
SmallVector<Value> MatvecEmitter::addUnit(const Unit &unit, ValueRange before) {
  size_t vectors = unit.parts.size();
  SmallVector<Value> xs, totals(vectors);
  SmallVector<std::map<double, Value>> biases(vectors);
  SmallVector<Value> sums = llvm::to_vector(before);
  for (const Point &part : unit.parts) {
    FailureOr<Value> x = operandAt(0, matmul.a, part);
    if (failed(x))
      fail();
    if (hasFailed)
      return sums;
    xs.push_back(*x);
  }
  for (auto [sum, elements] : llvm::zip(sums, unit.elements)) {
    Value old = sum;
    for (auto [at, element] : llvm::enumerate(elements)) {
      Scaled scaled = takeApart(element);
      auto total = [&](Value &known, function_ref<Value()> make) {
        return known ? known : known = make();
      };
      auto totalOf = [&, at = at] {
        return total(totals[at], [&] { return sumOfLanes(xs[at]); });
      };
      Value start;
      if (scaled.bias)
        start = total(biases[at][scaled.bias], [&] {
          Value factor = arith::ConstantOp::create(
              builder, loc, builder.getF32FloatAttr(-scaled.bias));
          return Value(arith::MulFOp::create(builder, loc, totalOf(), factor));
        });
      else if (!scaled.scale)
        start = sum;
      Value product = sumOfProducts(xs[at], scaled.core, start);
      if (scaled.scale)
        sum = multiplyAdd(scaled.scale, product, sum);
      else if (scaled.bias)
        sum = arith::AddFOp::create(builder, loc, sum, product);
      else
        sum = product;
      if (scaled.offset)
        sum = multiplyAdd(scaled.offset, totalOf(), sum);
    }
    if (unit.isOn)
      sum = arith::SelectOp::create(builder, loc, unit.isOn, sum, old);
  }
  return sums;
}

LogicalResult MatvecEmitter::setUpRows() {
  auto more = emitter.sizes(*prepared);
  if (failed(more))
    return failure();
  for (auto [axis, size] : *more)
    sizes.try_emplace(axis, size);
  // What the last stage makes is computed where it is read.
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

/// Some steps of the threads, those of this one being `threads` apart. What
/// they need of the matrices, which nothing writes, is read first.
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
  if (!known) {
    if (prepared)
      prepare(base);
    return emitter.loop(thread, total, emitter.constant(threads), sums,
                        [&](Value unit, ValueRange before) {
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
  // Whole rounds in a loop, what is left behind it.
  int64_t rounds = (steps - done - isPartial) / together;
  if (rounds > 1 && !hasFailed) {
    int64_t stride = together * threads, begin = done * threads;
    sums = emitter.loop(
        emitter.add(thread, emitter.constant(begin)),
        emitter.constant(begin + rounds * stride), emitter.constant(stride),
        sums, [&](Value unit, ValueRange before) {
          return addSteps(unit, together, {}, base, before, false);
        });
    done += rounds * together;
  }
  while (done < steps && !hasFailed)
    add(std::min(steps - done, together));
  return sums;
}

/// Adds up what the threads have, and lets one go on with each column.
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
  // Of two lanes, each goes on with half of the columns.
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
  // As many registers as it takes, as long as an SM has some blocks.
  launch->setDiscardableAttr("nvvm.minctasm", builder.getI32IntegerAttr(4));
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

/// Whether two products differ in their matrices only, which are read alike.
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
  SmallVector<DepthUnits> units;
  for (const Matmul &product : products) {
    auto found = DepthUnits::choose(graph, product, prepared);
    if (!found || !areAlike(products.front(), product) ||
        found->lanes != (units.empty() ? *found : units.front()).lanes ||
        found->within.size() !=
            (units.empty() ? *found : units.front()).within.size())
      return failure();
    units.push_back(*found);
  }
  if (!llvm::isPowerOf2_64(products.size()) ||
      products.size() > size_t(maxWidth))
    return failure();
  Block *block = builder.getInsertionBlock();
  Operation *end = &*builder.getInsertionPoint(), *before = end->getPrevNode();
  DenseMap<Value, Storage> results = storage;
  if (succeeded(MatvecEmitter(graph, products, nest, prepared, units, builder,
                              loc, results, subgroupSize)
                    .emitProduct()))
    return success();
  while (end->getPrevNode() != before)
    end->getPrevNode()->erase();
  builder.setInsertionPoint(block, end->getIterator());
  return failure();
}
