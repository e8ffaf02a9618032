//===- MatvecEmitter.cpp - matrices times a vector on a GPU ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/MatvecEmitter.h"

#include "Target/GPU/ReadFirst.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// The most elements of a unit, and the most threads and columns of a block.
static constexpr int64_t maxUnit = 64, maxThreads = 128, maxWidth = 8;
/// Blocks that should be there, to give a large GPU work.
static constexpr int64_t manyBlocks = 512;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

std::optional<DepthUnits> DepthUnits::choose(const KernelGraph &graph,
                                             const Matmul &matmul) {
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
    if (!source || graph.isStage(source))
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
  MatvecEmitter(const KernelGraph &graph, const Matmul &matmul,
                const DepthUnits &units, OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, unsigned subgroupSize)
      : LaunchEmitter(graph, *matmul.nest, builder, loc, storage, subgroupSize,
                      units.lanes),
        matmul(matmul), units(units) {
    wide = {matmul.depth.back()};
  }

  LogicalResult emitProduct();

private:
  /// A vector as `(core - bias) * scale + offset`, of which all but the core
  /// are scalars: they are taken out of the sum.
  struct Scaled {
    Value core, scale, offset;
    double bias = 0;
  };

  bool chooseBlocks();
  /// A constant, the same each time, so that reads are known to be the same.
  Value number(int64_t value) {
    Value &known = numbers[value];
    return known ? known : known = emitter.constant(value);
  }
  Point columnAt(Value number, const Point &base);
  SmallVector<Value> addUnit(Value unit, const Point &base, ValueRange before);
  FailureOr<Value> operandAt(unsigned number, const Point &point);
  Scaled takeApart(Value value);
  Value biased(Value bytes);
  Value sumOfProducts(Value x, Value core, Value before);
  Value sumOfLanes(Value x);
  Value multiplyAdd(Value a, Value b, Value c);
  void finish(ValueRange sums, const Point &base);

  const Matmul &matmul;
  const DepthUnits &units;
  /// Columns of a block; the first of them.
  int64_t width = 1;
  Value first;
  DenseMap<int64_t, Value> numbers;
};

/// Whether all bytes of a vector are less than 128.
bool isSmall(Value bytes) {
  if (!getElementTypeOrSelf(bytes.getType()).isInteger(8))
    return false;
  auto constant = [](Value value) -> std::optional<int64_t> {
    APInt number;
    if (auto all = value.getDefiningOp<vector::BroadcastOp>())
      value = all.getSource();
    if (!matchPattern(value, m_ConstantInt(&number)))
      return std::nullopt;
    return number.getZExtValue();
  };
  if (auto choice = bytes.getDefiningOp<arith::SelectOp>())
    return isSmall(choice.getTrueValue()) && isSmall(choice.getFalseValue());
  if (auto bits = bytes.getDefiningOp<arith::AndIOp>())
    return constant(bits.getRhs()).value_or(255) < 128;
  if (auto shift = bytes.getDefiningOp<arith::ShRUIOp>())
    return constant(shift.getRhs()).value_or(0) > 0;
  return false;
}

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
  int64_t columns = getConstantIntValue(count(matmul.columns))
                        .value_or(maxWidth * manyBlocks);
  width = 2;
  while (width < std::min(wanted, maxWidth) &&
         columns / (2 * width) >= manyBlocks)
    width *= 2;
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

FailureOr<Value> MatvecEmitter::operandAt(unsigned number, const Point &point) {
  FailureOr<Lanes> found = emitter.operand(matmul.stage().op, number,
                                           loopsAt(matmul.stage(), point));
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
  return Value(arith::ExtFOp::create(builder, loc,
                                     type.clone(builder.getF32Type()), value));
}

/// Bytes below 128 as floats, with 128 added: that is what they are in the
/// upper bits of its mantissa.
Value MatvecEmitter::biased(Value bytes) {
  auto type = VectorType::get(emitter.lanes, builder.getI32Type());
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
  };
  Value bits = arith::ExtUIOp::create(builder, loc, type, bytes);
  bits = arith::ShLIOp::create(builder, loc, bits, splat(16));
  bits = arith::OrIOp::create(builder, loc, bits, splat(0x43000000));
  return arith::BitcastOp::create(builder, loc,
                                  type.clone(builder.getF32Type()), bits);
}

MatvecEmitter::Scaled MatvecEmitter::takeApart(Value value) {
  auto scalar = [](Value operand) -> Value {
    auto all = operand.getDefiningOp<vector::BroadcastOp>();
    return all && !isa<VectorType>(all.getSource().getType()) ? all.getSource()
                                                              : Value();
  };
  Scaled parts{value, {}, {}, 0};
  if (auto sum = parts.core.getDefiningOp<arith::AddFOp>())
    if ((parts.offset = scalar(sum.getRhs())))
      parts.core = sum.getLhs();
  if (auto product = parts.core.getDefiningOp<arith::MulFOp>())
    if ((parts.scale = scalar(product.getRhs())))
      parts.core = product.getLhs();
  APFloat bias(0.0f);
  if (auto less = parts.core.getDefiningOp<arith::SubFOp>())
    if (Value by = scalar(less.getRhs());
        by && matchPattern(by, m_ConstantFloat(&bias))) {
      parts.core = less.getLhs();
      parts.bias = bias.convertToFloat();
    }
  if (auto number = parts.core.getDefiningOp<arith::UIToFPOp>())
    if (isSmall(number.getIn())) {
      parts.core = biased(number.getIn());
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

/// What a unit adds to the sums of the columns.
SmallVector<Value> MatvecEmitter::addUnit(Value unit, const Point &base,
                                          ValueRange before) {
  Point point = base;
  divide(unit, units.across, point);
  // The vectors of the unit.
  int64_t vectors = *getConstantIntValue(count(units.within));
  SmallVector<Point> parts;
  SmallVector<Value> xs, totals(vectors);
  SmallVector<std::map<double, Value>> biases(vectors);
  for (int64_t i = 0; i < vectors; ++i) {
    Point part = point;
    int64_t rest = i;
    for (Axis axis : llvm::reverse(units.within)) {
      int64_t size = *getConstantIntValue(count(axis));
      int64_t step = isWide(axis) ? emitter.lanes : 1;
      part[axis] = {number(rest % size * step), isWide(axis) ? 1 : 0};
      rest /= size;
    }
    FailureOr<Value> x = operandAt(matmul.a, part);
    if (failed(x)) {
      fail();
      return llvm::to_vector(before);
    }
    parts.push_back(part);
    xs.push_back(*x);
  }
  SmallVector<Value> sums = llvm::to_vector(before);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Point column = columnAt(emitter.add(first, emitter.constant(index)), {});
    for (auto [at, part] : llvm::enumerate(parts)) {
      for (Axis axis : matmul.columns)
        part[axis] = column[axis];
      FailureOr<Value> element = operandAt(matmul.b, part);
      if (failed(element)) {
        fail();
        return llvm::to_vector(before);
      }
      Scaled scaled = takeApart(*element);
      auto total = [&](Value &known, function_ref<Value()> make) {
        return known ? known : known = make();
      };
      auto totalOf = [&] {
        return total(totals[at], [&] { return sumOfLanes(xs[at]); });
      };
      Value start;
      if (scaled.bias)
        start = total(biases[at][scaled.bias], [&] {
          Value factor = arith::ConstantOp::create(
              builder, loc, builder.getF32FloatAttr(-scaled.bias));
          return Value(arith::MulFOp::create(builder, loc, totalOf(), factor));
        });
      Value product = sumOfProducts(xs[at], scaled.core, start);
      sum = scaled.scale
                ? multiplyAdd(scaled.scale, product, sum)
                : Value(arith::AddFOp::create(builder, loc, sum, product));
      if (scaled.offset)
        sum = multiplyAdd(scaled.offset, totalOf(), sum);
    }
  }
  return sums;
}

/// Adds up what the threads have, and lets one go on with each column.
void MatvecEmitter::finish(ValueRange sums, const Point &base) {
  int64_t groups = threads / subgroupSize;
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
  Value shared = allocateShared({groups, width}, f32);
  {
    Value perColumn = emitter.constant(subgroupSize / width);
    Value inColumn = arith::RemUIOp::create(builder, loc, lane, perColumn);
    auto branch =
        scf::IfOp::create(builder, loc, isLess(inColumn, emitter.constant(1)));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value column = arith::DivUIOp::create(builder, loc, lane, perColumn);
    memref::StoreOp::create(builder, loc, all[0], shared,
                            ValueRange{group, column});
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
  auto inits = initialValues(matmul.stage(), point);
  if (failed(inits))
    return fail();
  Value sum = inits->front();
  for (int64_t i = 0; i < groups; ++i)
    sum = arith::AddFOp::create(
        builder, loc, sum,
        memref::LoadOp::create(builder, loc, shared,
                               ValueRange{emitter.constant(i), thread}));
  keep(matmul.stage(), point, Lanes{sum}, /*byOne=*/false);
  for (const Stage &stage : llvm::drop_begin(nest.stages))
    emitPoint(stage, point);
}

LogicalResult MatvecEmitter::emitProduct() {
  emitter.storage = storage;
  if (failed(findSizes()) || !chooseBlocks())
    return failure();
  SmallVector<Axis> others = matmul.batch;
  others.append(matmul.rows);
  Value perRow = builder.createOrFold<arith::CeilDivUIOp>(
      loc, count(matmul.columns), emitter.constant(width));
  OpBuilder::InsertionGuard guard(builder);
  launch = createLaunch(emitter.multiply(perRow, count(others)), threads);
  launch->setDiscardableAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
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
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  SmallVector<Value> sums(width, zero);
  sums = emitter.loop(thread, count(units.across), emitter.constant(threads),
                      sums, [&](Value unit, ValueRange before) {
                        return addUnit(unit, base, before);
                      });
  if (hasFailed)
    return failure();
  readFirst(cast<scf::ForOp>(sums.front().getDefiningOp()).getBody());
  finish(sums, base);
  return failure(hasFailed);
}

LogicalResult relax::emitMatvec(const KernelGraph &graph, const Matmul &matmul,
                                OpBuilder &builder, Location loc,
                                const DenseMap<Value, Storage> &storage,
                                unsigned subgroupSize) {
  std::optional<DepthUnits> units = DepthUnits::choose(graph, matmul);
  if (!units)
    return failure();
  Block *block = builder.getInsertionBlock();
  Operation *end = &*builder.getInsertionPoint(), *before = end->getPrevNode();
  DenseMap<Value, Storage> results = storage;
  if (succeeded(MatvecEmitter(graph, matmul, *units, builder, loc, results,
                              subgroupSize)
                    .emitProduct()))
    return success();
  while (end->getPrevNode() != before)
    end->getPrevNode()->erase();
  builder.setInsertionPoint(block, end->getIterator());
  return failure();
}
