//===- MatmulEmitter.cpp - matmuls on a GPU -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/MatmulEmitter.h"

#include "Target/GPU/Matmul/ComputedWarpgroups.h"
#include "Target/GPU/Matmul/MatvecEmitter.h"
#include "Target/GPU/Matmul/Products.h"
#include "Target/GPU/Matmul/SkinnyMatmul.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// Consecutive blocks go along the rows, so that they share columns in the
/// cache.
static constexpr int64_t blocksTogether = 8;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

FailureOr<Value> MatmulEmitter::countRows() {
  if (failed(findSizes()))
    return failure();
  return count(matmul.rows);
}

void MatmulEmitter::allocateResults() {
  for (const Stage &stage : nest.stages)
    for (OpResult result : stage.op->getResults()) {
      if (!isReadLater(result))
        continue;
      auto *output = llvm::find_if(graph.outputs, [&](const Output &output) {
        return output.value == result;
      });
      if (output == graph.outputs.end()) {
        storage[result] = allocateWhole(stage, result, sizes, builder, loc);
        continue;
      }
      auto rank = cast<RankedTensorType>(result.getType()).getRank();
      storage[result] = {output->buffer,
                         llvm::to_vector(llvm::seq<unsigned>(0, rank))};
    }
}

LogicalResult MatmulEmitter::begin(int64_t rows, int64_t columns,
                                   int64_t threads, int64_t sharedBytes,
                                   bool manyRows, int64_t split) {
  emitter.storage = storage;
  if (failed(findSizes()))
    return failure();
  auto tiles = [&](ArrayRef<Axis> axes, int64_t size) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, count(axes),
                                                    number(size));
  };
  Value blocks = tiles(matmul.columns, columns);
  if (manyRows)
    blocks = emitter.multiply(blocks, tiles(matmul.rows, rows));
  blocks = emitter.multiply(blocks, count(matmul.batch));
  blocks = emitter.multiply(blocks, number(split));
  launchTiles(blocks, threads, sharedBytes);
  {
    OpBuilder::InsertionGuard outside(builder);
    builder.setInsertionPoint(launch);
    chooseStorage();
  }
  blockThreads = threads;
  corner =
      locate(divideBy(launch.getBlockIds().x, split), rows, columns, manyRows);
  return success();
}

MatmulEmitter::Corner MatmulEmitter::locate(Value block, int64_t rows,
                                            int64_t columns, bool manyRows) {
  Corner found;
  auto quotient = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  };
  auto rest = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  };
  auto tiles = [&](ArrayRef<Axis> axes, int64_t size) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, count(axes),
                                                    number(size));
  };
  Value across = tiles(matmul.columns, columns);
  Value down = manyRows ? tiles(matmul.rows, rows) : number(1);
  if (!matmul.batch.empty()) {
    Value all = emitter.multiply(across, down);
    divide(quotient(block, all), matmul.batch, found.batch);
    block = rest(block, all);
  }
  if (!manyRows) {
    found.row = number(0);
    found.column = emitter.multiply(block, number(columns));
    return found;
  }
  // A group of blocks along the rows, then the next columns.
  Value group = emitter.multiply(across, number(blocksTogether));
  Value first =
      emitter.multiply(quotient(block, group), number(blocksTogether));
  Value height = builder.createOrFold<arith::MinUIOp>(
      loc, subtract(down, first), number(blocksTogether));
  Value inner = rest(block, group);
  found.row =
      emitter.multiply(emitter.add(first, rest(inner, height)), number(rows));
  found.column = emitter.multiply(quotient(inner, height), number(columns));
  return found;
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

int64_t MatmulEmitter::chooseWidth(const KernelGraph &graph,
                                   const Matmul &matmul) {
  if (matmul.columns.size() != 1)
    return 1;
  WidthFinder finder(graph, matmul.columns.front());
  for (const Stage &stage : matmul.nest->stages) {
    if (&stage != &matmul.stage()) {
      finder.see(stage.op);
      continue;
    }
    for (OpOperand &init : stage.op.getDpsInitsMutable())
      finder.see(stage.op, init);
  }
  return finder.width();
}

Type MatmulEmitter::sumsType() {
  Type f32 = builder.getF32Type();
  return emitter.lanes == 1 ? f32 : VectorType::get(emitter.lanes, f32);
}

Value MatmulEmitter::loadSums(Value sums, Value at) {
  int64_t lanes = emitter.lanes;
  if (lanes == 1)
    return memref::LoadOp::create(builder, loc, sums, at);
  return vector::LoadOp::create(
      builder, loc, cast<VectorType>(sumsType()), sums, at,
      /*nontemporal=*/false,
      llvm::MaybeAlign(std::min<int64_t>(4 * lanes, 16)));
}

void MatmulEmitter::finish(Value sums, int64_t parts, int64_t rows,
                           int64_t columns, int64_t pitch) {
  finishTile(thread, number(blockThreads), rows, columns, pitch,
             /*rowsAtOnce=*/0, [&](Value place) {
               Value sum = loadSums(sums, place);
               for (int64_t part = 1; part < parts; ++part) {
                 Value from = emitter.add(place, number(part * rows * pitch));
                 sum = arith::AddFOp::create(builder, loc, sum,
                                             loadSums(sums, from));
               }
               return sum;
             });
}

void MatmulEmitter::finishTile(Value first, Value step, int64_t rows,
                               int64_t columns, int64_t pitch,
                               int64_t rowsAtOnce,
                               function_ref<Value(Value)> load) {
  int64_t lanes = emitter.lanes, perRow = columns / lanes;
  emitter.loop(
      first, number(rows * perRow), step, {}, [&](Value at, ValueRange) {
        Value row = divideBy(at, perRow);
        Value column = emitter.multiply(remainder(at, perRow), number(lanes));
        Value place = emitter.add(emitter.multiply(row, number(pitch)), column);
        Value rowAt = emitter.add(corner.row, row);
        Value columnAt = emitter.add(corner.column, column);
        Value inside = isInside(columnAt, count(matmul.columns), columns);
        if (rowsAtOnce) {
          Value within = remainder(row, rowsAtOnce);
          Value wanted = emitter.add(corner.row, subtract(row, within));
          Value start = firstRow(wanted, rows);
          rowAt = emitter.add(start, within);
          if (start != wanted)
            inside = both(inside,
                          builder.createOrFold<arith::CmpIOp>(
                              loc, arith::CmpIPredicate::uge, rowAt, wanted));
        }
        inside = both(isInside(rowAt, count(matmul.rows), rows), inside);
        onlyIf(inside, [&] { finishPoints(load(place), rowAt, columnAt); });
        return SmallVector<Value>();
      });
}

void MatmulEmitter::finishPoints(Value sum, Value row, Value column) {
  PointEmitter::Scope scope(emitter);
  Point point = corner.batch;
  divide(row, matmul.rows, point);
  divide(column, matmul.columns, point);
  if (emitter.lanes > 1)
    point[matmul.columns.front()].stride = 1;
  // Initial values of the sums.
  auto inits = initialValues(matmul.stage(), point);
  if (failed(inits))
    return fail();
  Value init = inits->front();
  if (!matchPattern(init, m_AnyZeroFloat()) &&
      !(init.getDefiningOp<vector::BroadcastOp>() &&
        matchPattern(init.getDefiningOp()->getOperand(0), m_AnyZeroFloat())))
    sum = arith::AddFOp::create(builder, loc, init, sum);
  for (const Stage &stage : nest.stages) {
    if (&stage == &matmul.stage())
      keep(stage, point, Lanes{sum, 0, emitter.lanes > 1}, /*byOne=*/false);
    else
      emitPoint(stage, point);
  }
}

//===----------------------------------------------------------------------===//
// Choice of a strategy
//===----------------------------------------------------------------------===//

namespace {

/// Multiprocessors of a large GPU, which should all have work.
constexpr int64_t multiprocessors = 132;

//           warps     counts  depth stages
// clang-format off
constexpr Tile tile16 = {1, 1, 4,  1, 4,  128, 4};
constexpr Tile tile32 = {1, 1, 4,  2, 4,  128, 4};
constexpr Tile tile64 = {1, 1, 4,  4, 4,  128, 3};
constexpr Tile tileMany = {2, 2, 1,  2, 4,  64, 4};
constexpr Tile tileLarge = {2, 2, 1,  4, 8,  64, 3};
// clang-format on

/// Adapts a tile for few rows to a matrix of `width` columns: halves its width
/// if that keeps more multiprocessors busy, and uses as many stages as fit in
/// memory with the expected number of blocks per multiprocessor. The fewer the
/// blocks, the more reads must be in flight.
Tile fit(Tile tile, int64_t width) {
  constexpr int64_t perBlock = 96 << 10, perMultiprocessor = 200 << 10;
  if (llvm::divideCeil(width, tile.columns()) <= multiprocessors / 2)
    tile.countN /= 2;
  int64_t blocks = llvm::divideCeil(width, tile.columns());
  int64_t together = llvm::divideCeil(blocks, multiprocessors);
  int64_t bytes = std::min(perBlock, perMultiprocessor / together);
  int64_t stageBytes = (tile.rows() + tile.columns()) * tile.depth * 2;
  tile.stages = std::clamp<int64_t>(bytes / stageBytes, tile.stages, 8);
  return tile;
}

// For computed operands. Their inputs stay in registers until the previous
// stage is done, so long stages keep more reads in flight.
// clang-format off
constexpr Tile computed16 = {1, 1, 8,  1, 4,  512, 2};
constexpr Tile computed32 = {1, 1, 4,  2, 4,  256, 2};
constexpr Tile computed64 = {1, 1, 4,  4, 4,  128, 2};
constexpr Tile computedMany = {2, 2, 1,  2, 4,  64, 3};
constexpr Tile computedLarge = {2, 2, 1,  4, 8,  64, 3};
// clang-format on

// For cooperative matrices, with few and with many rows.
// clang-format off
constexpr Tile matrix16 = {1, 4, 1,  1, 2,  128, 1};
constexpr Tile matrix32 = {1, 4, 1,  2, 2,  64, 1};
constexpr Tile matrix64 = {2, 2, 1,  2, 4,  64, 1};
constexpr Tile matrixLarge = {2, 2, 1,  4, 8,  32, 1};
// clang-format on

constexpr ScalarTile scalarSmall = {4, 16, 4, 4, 16};
constexpr ScalarTile scalarMany = {16, 16, 4, 4, 16};
constexpr ScalarTile scalarLarge = {16, 16, 8, 8, 16};

/// The number of rows up to which tiles of this size do not occupy all
/// multiprocessors.
int64_t rowsForAll(int64_t rows, int64_t columns, int64_t width) {
  int64_t across = llvm::divideCeil(std::max<int64_t>(width, 1), columns);
  return (llvm::divideCeil(multiprocessors, across) - 1) * rows;
}

/// Warpgroup tiles, each with the maximum number of rows it is used for.
SmallVector<std::pair<int64_t, WarpgroupTile>>
chooseWarpgroupTiles(const Matmul &matmul, std::optional<int64_t> rows,
                     bool isComputed) {
  linalg::GenericOp op = matmul.stage().op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto sizeOf = [&](ArrayRef<Axis> axes) {
    int64_t size = 1;
    for (auto [loop, axis] : llvm::enumerate(matmul.stage().axes))
      if (llvm::is_contained(axes, axis) &&
          !ShapedType::isDynamic(ranges[loop]))
        size *= ranges[loop];
    return size;
  };
  SmallVector<int64_t> limits = {64, 128, 256, 512, 1024, MatmulStrategy::any};
  if (rows)
    limits = {MatmulStrategy::any};
  SmallVector<std::pair<int64_t, WarpgroupTile>> tiles;
  for (int64_t limit : limits) {
    int64_t typical = rows ? *rows : std::min<int64_t>(limit, 4096);
    int64_t batches = sizeOf(matmul.batch), columns = sizeOf(matmul.columns);
    WarpgroupTile tile = isComputed
                             ? chooseComputedTile(batches, typical, columns)
                             : WarpgroupTile::choose(batches, typical, columns,
                                                     sizeOf(matmul.depth));
    if (!tiles.empty() && tiles.back().second == tile)
      tiles.back().first = limit;
    else
      tiles.push_back({limit, tile});
  }
  return tiles;
}

} // namespace

std::unique_ptr<Product> Product::find(const KernelGraph &graph,
                                       const Nest &nest, OpBuilder &builder,
                                       Location loc,
                                       DenseMap<Value, Storage> &storage,
                                       const Chip &chip, bool asVectors) {
  std::optional<Matmul> found = Matmul::match(nest);
  if (!found)
    return nullptr;
  unsigned subgroupSize = chip.subgroupSize;
  auto product = std::make_unique<Product>(Product{*found, {}, {}});
  const Matmul *matmul = &product->matmul;
  int64_t lanes = asVectors ? MatmulEmitter::chooseWidth(graph, *matmul) : 1;
  MatmulEmitter outside(graph, *matmul, builder, loc, storage, lanes);
  FailureOr<Value> rows = outside.countRows();
  if (failed(rows))
    return nullptr;
  product->rows = *rows;
  outside.allocateResults();

  // For a single row, or few, a generic kernel is enough.
  bool isComputed =
      KernelGraph::producer(matmul->operand(matmul->b)) != nullptr;
  auto emitGeneric = [=, &graph, &nest, &builder, &storage]() {
    if (isComputed && asVectors &&
        succeeded(emitMatvec(graph, *matmul, nest, /*prepared=*/nullptr,
                             builder, loc, storage, subgroupSize)))
      return success();
    return emitAlone(graph, nest, builder, loc, storage, subgroupSize,
                     asVectors);
  };
  auto emitWith = [&](auto... parts) {
    return [=, &graph, &builder, &storage]() -> LogicalResult {
      DenseMap<Value, Storage> results = storage;
      return MatmulEmitter(graph, *matmul, builder, loc, results, lanes)
          .emit(parts...);
    };
  };

  // With few rows, tiles would leave most of the GPU idle if the sums are long.
  linalg::GenericOp op = matmul->stage().op;
  bool isLong = llvm::any_of(
      llvm::seq<unsigned>(0, op.getNumLoops()), [&](unsigned loop) {
        return !matmul->stage().isParallel(loop) &&
               ShapedType::isDynamic(op.getStaticLoopRanges()[loop]);
      });
  SmallVector<MatmulStrategy> &strategies = product->strategies;
  strategies.push_back({isLong ? 8 : 1, emitGeneric});
  auto a = Panel::match(*matmul, matmul->a, matmul->rows, storage);
  auto b = Panel::match(*matmul, matmul->b, matmul->columns, storage);
  auto element = [&](unsigned number) {
    return getElementTypeOrSelf(matmul->operand(number).getType());
  };
  bool isHalf =
      element(0) == element(1) && (element(0).isBF16() || element(0).isF16());
  auto result =
      cast<RankedTensorType>(matmul->stage().op->getResult(0).getType());
  int64_t width =
      result.isDynamicDim(result.getRank() - 1) ? 1 : result.getShape().back();
  std::optional<DepthUnits> units;
  if (!b && asVectors)
    units = DepthUnits::choose(graph, *matmul);
  bool isStaged = b ? b->width > 1 : units && units->lanes >= 8;
  if (isHalf && a && isStaged && a->alongDepth && a->width > 1 &&
      subgroupSize == 32 && chip.hasTensorCores) {
    int64_t few = 64, many = rowsForAll(128, 128, width);
    auto tileOf = [&](const Tile &inMemory, const Tile &computed,
                      bool manyRows) {
      return emitWith(b ? inMemory : computed, manyRows, *a, b, units);
    };
    std::optional<SkinnyMatmul> skinny;
    if (!b)
      skinny = SkinnyMatmul::match(graph, *matmul, *a, *units);
    for (int64_t limit : {8, 16, 32, 64}) {
      if (!skinny)
        break;
      SkinnyTile tile =
          SkinnyTile::choose(*skinny, limit, width, chip.hasWarpgroups);
      strategies.push_back({limit, [=, &graph, &builder, &storage] {
                              DenseMap<Value, Storage> results = storage;
                              return emitSkinny(graph, *matmul, builder, loc,
                                                results, lanes, *skinny, tile);
                            }});
    }
    if (!skinny) {
      strategies.push_back({16, tileOf(fit(tile16, width), computed16, false)});
      strategies.push_back({32, tileOf(fit(tile32, width), computed32, false)});
    }
    if (chip.hasWarpgroups &&
        MatmulEmitter::canUseWarpgroups(*matmul, *a, b, units)) {
      for (auto [limit, tile] :
           chooseWarpgroupTiles(*matmul, getConstantIntValue(*rows), !b))
        strategies.push_back({limit, emitWith(tile, *a, b, units)});
    } else {
      strategies.push_back({few, tileOf(tile64, computed64, false)});
      if (many > few)
        strategies.push_back({many, tileOf(tileMany, computedMany, true)});
      strategies.push_back(
          {MatmulStrategy::any, tileOf(tileLarge, computedLarge, true)});
    }
  } else if (isHalf && a && b && a->alongDepth && a->width > 1 &&
             b->width > 1 && chip.hasMatrices) {
    int64_t many = rowsForAll(128, 128, width);
    auto tileOf = [&](const Tile &tile, bool manyRows) {
      return [=, &graph, &builder, &storage]() -> LogicalResult {
        DenseMap<Value, Storage> results = storage;
        return MatmulEmitter(graph, *matmul, builder, loc, results, lanes)
            .emitByMatrices(tile, manyRows, *a, *b);
      };
    };
    strategies.push_back({16, tileOf(matrix16, false)});
    strategies.push_back({32, tileOf(matrix32, false)});
    strategies.push_back({64, tileOf(matrix64, false)});
    if (many > 64)
      strategies.push_back({many, tileOf(matrix64, true)});
    strategies.push_back({MatmulStrategy::any, tileOf(matrixLarge, true)});
  } else {
    int64_t few = 16, many = rowsForAll(128, 128, width);
    strategies.push_back({few, emitWith(scalarSmall, false)});
    bool fitsLarge = scalarLarge.sharedBytes() <= chip.sharedBytes;
    if (many > few && fitsLarge)
      strategies.push_back({many, emitWith(scalarMany, true)});
    strategies.push_back(
        {MatmulStrategy::any,
         emitWith(fitsLarge ? scalarLarge : scalarMany, true)});
  }

  return product;
}
