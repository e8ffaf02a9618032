//===- SkinnyEmitter.cpp - skinny matmuls ---------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages of lines form a ring buffer in shared memory: while one is multiplied,
// the next ones are copied. The area beyond the matrices is filled with zeros.
// Warps divide the units of a stage; their sums are added at the end.
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Decoded.h"
#include "Target/GPU/Matmul/SkinnyMatmul.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

class SkinnyEmitter : public MatmulEmitter {
public:
  SkinnyEmitter(const KernelGraph &graph, const Matmul &matmul,
                OpBuilder &builder, Location loc,
                DenseMap<Value, Storage> &storage, int64_t lanes,
                const SkinnyMatmul &product, const SkinnyTile &tile)
      : MatmulEmitter(graph, matmul, builder, loc, storage, lanes),
        product(product), tile(tile), points(builder, loc, product.lanes),
        element(product.rows.element) {}

  LogicalResult emitProduct();

private:
  /// A ring buffer of stages of lines.
  struct Ring {
    StagedLines lines;
    Value view, source, first, limit;
    int64_t count, pitch, chunk;
    /// Whether a block may extend beyond the last line.
    bool mayEnd;
  };
  Ring makeRing(const StagedLines &lines, int64_t count, Value first,
                Value limit, int64_t &bytes);
  void copy(const Ring &ring, Value stage, Value step);
  /// Loads the elements of a lane in a unit, or the unit's only element.
  Value load(const Ring &ring, Value stage, Value line, Value unit,
             int64_t offset);

  /// A lane's part of a unit, for 16 columns.
  struct Fragment {
    /// Pairs of elements for each of two lines.
    SmallVector<Value> words[2];
    Value scale[2], offset[2];
  };
  FailureOr<Fragment> decode(Value stage, Value column, Value unit,
                             int64_t part);
  SmallVector<Value> wordsOf(Value vector);
  SmallVector<Value> multiplyUnit(Value stage, Value unit, ValueRange sums);
  Value multiplyAdd(Value a, Value b, Value c) {
    return c ? Value(math::FmaOp::create(builder, loc, a, b, c))
             : Value(arith::MulFOp::create(builder, loc, a, b));
  }
  Value zero() {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  }
  Value storeSums(ValueRange sums);

  int64_t partsOfUnit() const {
    return product.unit / (SkinnyMatmul::quad * product.lanes);
  }
  int64_t countM() const { return tile.columns / SkinnyTile::blockColumns; }
  int64_t countN() const { return tile.rows / SkinnyTile::blockRows; }

  const SkinnyMatmul &product;
  const SkinnyTile &tile;
  PointEmitter points;
  Type element;
  SmallVector<Ring> rings; // the inputs, then the rows
  Value lane, warp, lineOfLane, lanesAt;
};

} // namespace

SkinnyEmitter::Ring SkinnyEmitter::makeRing(const StagedLines &lines,
                                            int64_t count, Value first,
                                            Value limit, int64_t &bytes) {
  Ring ring{lines, {}, flatten(lines.buffer), first, limit};
  ring.count = count;
  ring.pitch = lines.pitch(product.lanes, tile.unitsOfStage()) / lines.bytes();
  ring.chunk = lines.copiedBytes(tile.unitsOfStage()) / lines.bytes();
  ring.mayEnd = isInside(first, limit, count) != nullptr;
  int64_t size = tile.stages * count * ring.pitch;
  ring.view = viewShared(size, lines.element, bytes);
  bytes += size * lines.bytes();
  return ring;
}

/// Starts to copy a stage, padded with zeros beyond the lines.
void SkinnyEmitter::copy(const Ring &ring, Value stage, Value step) {
  const StagedLines &lines = ring.lines;
  int64_t inStage = tile.unitsOfStage() * lines.perUnit;
  int64_t perLine = inStage / ring.chunk, threads = tile.threads();
  int64_t total = ring.count * perLine;
  Value along = emitter.multiply(step, number(inStage));
  Value start = emitter.multiply(stage, number(ring.count * ring.pitch));
  for (int64_t done = 0; done < total; done += threads) {
    Value at = emitter.add(thread, number(done));
    Value isOn = done + threads > total ? isLess(at, number(total)) : Value();
    onlyIf(isOn, [&] {
      Value line = divideBy(at, perLine);
      Value inLine =
          emitter.multiply(remainder(at, perLine), number(ring.chunk));
      Value place = emitter.add(along, inLine);
      Value from = emitter.add(ring.first, line);
      Value inside = ring.mayEnd ? isLess(from, ring.limit) : Value();
      if (lines.length % inStage)
        inside = both(inside, isLess(place, number(lines.length)));
      Value elements;
      if (inside)
        elements = arith::SelectOp::create(builder, loc, inside,
                                           number(ring.chunk), number(0));
      from = emitter.add(emitter.multiply(from, number(lines.length)), place);
      Value to = emitter.add(
          emitter.add(start, emitter.multiply(line, number(ring.pitch))),
          inLine);
      bool isWide = ring.chunk * lines.bytes() == 16;
      nvgpu::DeviceAsyncCopyOp::create(
          builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
          ring.view, to, ring.source, from, builder.getIndexAttr(ring.chunk),
          elements, isWide ? builder.getUnitAttr() : UnitAttr());
    });
  }
}

Value SkinnyEmitter::load(const Ring &ring, Value stage, Value line, Value unit,
                          int64_t offset) {
  const StagedLines &lines = ring.lines;
  Value at =
      emitter.add(emitter.multiply(stage, number(ring.count * ring.pitch)),
                  emitter.add(emitter.multiply(line, number(ring.pitch)),
                              emitter.multiply(unit, number(lines.perUnit))));
  at = emitter.add(at, number(offset));
  if (!lines.hasLanes)
    return memref::LoadOp::create(builder, loc, ring.view, at);
  int64_t bytes = std::min<int64_t>(product.lanes * lines.bytes(), 16);
  return vector::LoadOp::create(
      builder, loc, VectorType::get(product.lanes, lines.element), ring.view,
      emitter.add(at, lanesAt), /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

/// Packs neighboring elements in pairs for the tensor cores.
SmallVector<Value> SkinnyEmitter::wordsOf(Value vector) {
  SmallVector<Value> words;
  auto ints = VectorType::get(product.lanes / 2, builder.getI32Type());
  Value bits = element.isBF16()
                   ? vector::BitCastOp::create(builder, loc, ints, vector)
                   : Value();
  for (int64_t i = 0; i < product.lanes / 2; ++i)
    words.push_back(
        bits ? Value(vector::ExtractOp::create(builder, loc, bits, i))
             : Value(vector::ShuffleOp::create(
                   builder, loc, vector, vector,
                   ArrayRef<int64_t>{2 * i, 2 * i + 1})));
  return words;
}

FailureOr<SkinnyEmitter::Fragment>
SkinnyEmitter::decode(Value stage, Value column, Value unit, int64_t part) {
  Fragment fragment;
  linalg::GenericOp op = product.decode;
  // The lane's indices within the unit.
  SmallVector<Lanes> loops(op.getNumLoops(), Lanes{number(0)});
  int64_t rest = part;
  for (auto [loop, size] : llvm::reverse(ArrayRef(product.within))) {
    if (loop == product.within.back().first) {
      loops[loop] = {lanesAt, 1};
      continue;
    }
    loops[loop] = {number(rest % size)};
    rest /= size;
  }
  // The offset of these indices in an input.
  auto offsetOf = [&](unsigned input) {
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(input));
    int64_t offset = 0;
    for (auto [loop, size] : product.within) {
      if (!map.isFunctionOfDim(loop))
        continue;
      std::optional<int64_t> at = getConstantIntValue(loops[loop].value);
      offset = offset * size + (loops[loop].stride ? 0 : at.value_or(0));
    }
    return offset;
  };
  for (int64_t half = 0; half < 2; ++half) {
    Value line = emitter.add(column, number(half * 8));
    PointEmitter::Scope scope(points);
    auto values = points.body(
        op, loops,
        [&](unsigned input) -> FailureOr<Lanes> {
          const Ring &ring = rings[input];
          Value loaded = load(ring, stage, line, unit, offsetOf(input));
          return Lanes{loaded, 0, ring.lines.hasLanes};
        },
        /*contract=*/false);
    if (failed(values))
      return failure();
    Value value = points.vector(values->front());
    Value numbers;
    if (auto narrow = value.getDefiningOp<arith::TruncFOp>();
        narrow && getElementTypeOrSelf(narrow.getIn().getType()).isF32()) {
      Scaled parts = Scaled::takeApart(narrow.getIn());
      numbers = exactNumbers(builder, loc, parts, element);
      if (numbers) {
        fragment.scale[half] = parts.scale;
        fragment.offset[half] = parts.offset;
      }
    }
    fragment.words[half] = wordsOf(numbers ? numbers : value);
  }
  return fragment;
}

/// Whether both values are computed by the same ops from the same operands.
static bool areSame(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  Operation *a = lhs ? lhs.getDefiningOp() : nullptr;
  Operation *b = rhs ? rhs.getDefiningOp() : nullptr;
  return a && b &&
         OperationEquivalence::isEquivalentTo(
             a, b, [](Value x, Value y) { return success(areSame(x, y)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Adds the product of a unit to `sums`.
SmallVector<Value> SkinnyEmitter::multiplyUnit(Value stage, Value unit,
                                               ValueRange sums) {
  SmallVector<Value> next = llvm::to_vector(sums);
  int64_t parts = partsOfUnit(), steps = product.lanes / SkinnyMatmul::perStep;
  const Ring &rows = rings.back();
  // Rows, for each part of the unit.
  SmallVector<SmallVector<SmallVector<Value>>> x(countN());
  for (int64_t n = 0; n < countN(); ++n)
    for (int64_t part = 0; part < parts; ++part) {
      Value line = emitter.add(lineOfLane, number(n * SkinnyTile::blockRows));
      x[n].push_back(wordsOf(load(rows, stage, line, unit,
                                  part * SkinnyMatmul::quad * product.lanes)));
    }
  SmallVector<Value> zeros(4, zero());
  // The sum of all elements of a row, by multiplying with ones.
  SmallVector<SmallVector<Value>> totals(countN());
  auto total = [&](int64_t n, int64_t which) {
    if (totals[n].empty()) {
      Value one = arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(VectorType::get(product.lanes, element),
                                 builder.getFloatAttr(element, 1)));
      Value word = wordsOf(one).front();
      SmallVector<Value> ones(4, word);
      totals[n] = zeros;
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t step = 0; step < steps; ++step)
          totals[n] =
              multiplyMatrices(ones, ArrayRef(x[n][part]).slice(2 * step, 2),
                               totals[n], element);
    }
    return totals[n][which];
  };
  for (int64_t m = 0; m < countM(); ++m) {
    Value column =
        emitter.add(lineOfLane, number(m * SkinnyTile::blockColumns));
    SmallVector<Fragment> fragments;
    for (int64_t part = 0; part < parts; ++part) {
      FailureOr<Fragment> fragment = decode(stage, column, unit, part);
      if (failed(fragment)) {
        fail();
        return next;
      }
      fragments.push_back(*fragment);
    }
    const Fragment &first = fragments.front();
    bool shares = llvm::all_of(fragments, [&](const Fragment &other) {
      return areSame(first.scale[0], other.scale[0]) &&
             areSame(first.scale[1], other.scale[1]) &&
             areSame(first.offset[0], other.offset[0]) &&
             areSame(first.offset[1], other.offset[1]);
    });
    if (!shares) {
      fail();
      return next;
    }
    for (int64_t n = 0; n < countN(); ++n) {
      int64_t place = (m * countN() + n) * 4;
      SmallVector<Value> some =
          first.scale[0]
              ? zeros
              : llvm::to_vector(ArrayRef<Value>(next).slice(place, 4));
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t step = 0; step < steps; ++step) {
          const Fragment &f = fragments[part];
          SmallVector<Value> a = {f.words[0][2 * step], f.words[1][2 * step],
                                  f.words[0][2 * step + 1],
                                  f.words[1][2 * step + 1]};
          some = multiplyMatrices(a, ArrayRef(x[n][part]).slice(2 * step, 2),
                                  some, element);
        }
      for (int64_t i = 0; i < 4; ++i) {
        Value sum = some[i];
        if (first.scale[i / 2])
          sum = multiplyAdd(sum, first.scale[i / 2], next[place + i]);
        if (first.offset[i / 2])
          sum = multiplyAdd(total(n, i), first.offset[i / 2], sum);
        next[place + i] = sum;
      }
    }
  }
  return next;
}

/// Stores the sums of all warps row by row in shared memory.
Value SkinnyEmitter::storeSums(ValueRange sums) {
  int64_t pitch = tile.pitch();
  Value shared =
      viewShared(tile.warps * tile.rows * pitch, builder.getF32Type());
  Value row = emitter.add(
      emitter.multiply(warp, number(tile.rows)),
      emitter.multiply(remainder(lane, SkinnyMatmul::quad), number(2)));
  Value start = emitter.add(emitter.multiply(row, number(pitch)), lineOfLane);
  for (int64_t m = 0; m < countM(); ++m)
    for (int64_t n = 0; n < countN(); ++n)
      for (int64_t i = 0; i < 4; ++i) {
        int64_t ahead = (n * SkinnyTile::blockRows + i % 2) * pitch +
                        m * SkinnyTile::blockColumns + i / 2 * 8;
        memref::StoreOp::create(builder, loc, sums[(m * countN() + n) * 4 + i],
                                shared, emitter.add(start, number(ahead)));
      }
  return shared;
}

LogicalResult SkinnyEmitter::emitProduct() {
  int64_t bytes = std::max(tile.stages * tile.stageBytes(product),
                           tile.leastBytes(product));
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin(tile.rows, tile.columns, tile.threads(), bytes,
                   /*manyRows=*/false)))
    return failure();
  PointEmitter::Scope scope(emitter);
  lane = remainder(thread, 32);
  warp = divideBy(thread, 32);
  lineOfLane = divideBy(lane, SkinnyMatmul::quad);
  lanesAt = emitter.multiply(remainder(lane, SkinnyMatmul::quad),
                             number(product.lanes));
  int64_t used = 0;
  for (const StagedLines &lines : product.inputs)
    rings.push_back(makeRing(lines, tile.columns, corner.column,
                             count(matmul.columns), used));
  rings.push_back(
      makeRing(product.rows, tile.rows, number(0), count(matmul.rows), used));
  rings.back().mayEnd =
      isInside(number(0), count(matmul.rows), tile.rows) != nullptr;
  int64_t steps = llvm::divideCeil(product.count, tile.unitsOfStage());
  // Empty groups are committed too, since waits count groups.
  auto copyStage = [&](Value stage, Value step) {
    for (const Ring &ring : rings)
      copy(ring, stage, step);
  };
  auto endGroup = [&] { NVVM::CpAsyncCommitGroupOp::create(builder, loc); };
  auto waitFor = [&](int32_t others) {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, others);
    gpu::BarrierOp::create(builder, loc);
  };
  for (int64_t ahead = 0; ahead + 1 < tile.stages; ++ahead) {
    if (ahead < steps)
      copyStage(number(ahead), number(ahead));
    endGroup();
  }
  int64_t sums = countM() * countN() * 4;
  SmallVector<Value> carried(sums, zero());
  // The ring indices of the stage to multiply and the stage to copy.
  carried.push_back(number(0));
  carried.push_back(number(tile.stages - 1));
  auto after = [&](Value stage) -> Value {
    Value next = emitter.add(stage, number(1));
    Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, number(tile.stages));
    return arith::SelectOp::create(builder, loc, isEnd, number(0), next);
  };
  SmallVector<Value> last = emitter.loop(
      number(0), number(steps), number(1), carried,
      [&](Value step, ValueRange values) {
        Value stage = values[sums], free = values[sums + 1];
        waitFor(tile.stages - 2);
        Value ahead = emitter.add(step, number(tile.stages - 1));
        onlyIf(isLess(ahead, number(steps)), [&] { copyStage(free, ahead); });
        endGroup();
        SmallVector<Value> next = llvm::to_vector(values.take_front(sums));
        for (int64_t i = 0; i < tile.units; ++i) {
          Value unit = emitter.add(warp, number(i * tile.warps));
          next = multiplyUnit(stage, unit, next);
        }
        next.push_back(after(stage));
        next.push_back(after(free));
        return next;
      });
  if (hasFailed)
    return failure();
  waitFor(0);
  Value stored = storeSums(ArrayRef<Value>(last).take_front(sums));
  gpu::BarrierOp::create(builder, loc);
  finish(stored, tile.warps, tile.rows, tile.columns, tile.pitch());
  return failure(hasFailed);
}

LogicalResult relax::emitSkinny(const KernelGraph &graph, const Matmul &matmul,
                                OpBuilder &builder, Location loc,
                                DenseMap<Value, Storage> &storage,
                                int64_t lanes, const SkinnyMatmul &product,
                                const SkinnyTile &tile) {
  return SkinnyEmitter(graph, matmul, builder, loc, storage, lanes, product,
                       tile)
      .emitProduct();
}
