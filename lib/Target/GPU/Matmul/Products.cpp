//===- Products.cpp - matmuls that share an operand -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/Products.h"

#include "Target/GPU/Launch/Mark.h"
#include "Target/GPU/Matmul/MatvecEmitter.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;
using namespace mlir::relax;

LogicalResult relax::emitNest(const KernelGraph &graph, const Nest &nest,
                              OpBuilder &builder, Location loc,
                              DenseMap<Value, Storage> &storage,
                              unsigned subgroupSize, bool asVectors) {
  Mark mark(builder);
  for (bool wide : {true, false}) {
    int64_t width =
        wide && asVectors ? LaunchEmitter::chooseWidth(graph, nest) : 1;
    DenseMap<Value, Storage> results = storage;
    if (succeeded(LaunchEmitter(graph, nest, builder, loc, results,
                                subgroupSize, width)
                      .emit())) {
      storage = std::move(results);
      return success();
    }
    mark.takeBack();
  }
  return failure();
}

LogicalResult relax::emitAlone(const KernelGraph &graph, const Nest &nest,
                               OpBuilder &builder, Location loc,
                               const DenseMap<Value, Storage> &storage,
                               unsigned subgroupSize, bool asVectors) {
  DenseMap<Value, Storage> results = storage;
  return emitNest(graph, nest, builder, loc, results, subgroupSize, asVectors);
}

/// Splits a nest with several contractions into nests with one each; empty if
/// there is only one.
static SmallVector<Nest> splitContractions(const Nest &nest) {
  SmallVector<Nest> parts;
  for (const Stage &stage : nest.stages) {
    if (parts.empty() || stage.isContraction())
      parts.push_back({{}, nest.outer, {}, std::nullopt});
    parts.back().stages.push_back(stage);
  }
  if (parts.size() == 1)
    parts.clear();
  return parts;
}

/// Whether two matmuls have the same rows of the same operand.
static bool shareRows(const Matmul &one, const Matmul &other) {
  auto positions = [](const Matmul &matmul) {
    const Stage &stage = matmul.stage();
    AffineMap map =
        stage.op.getMatchingIndexingMap(&stage.op->getOpOperand(matmul.a));
    return llvm::map_to_vector(matmul.rows, [&](Axis axis) {
      return map.getResultPosition(
          getAffineDimExpr(*stage.loopOf(axis), stage.op.getContext()));
    });
  };
  return one.operand(one.a) == other.operand(other.a) &&
         positions(one) == positions(other);
}

/// Whether a nest reads results of another nest.
static bool readsFrom(const KernelGraph &graph, const Nest &nest,
                      const Nest &source) {
  return llvm::any_of(source.stages, [&](const Stage &stage) {
    return llvm::any_of(stage.op->getResults(), [&](OpResult result) {
      return llvm::any_of(graph.readersOf(result, nest),
                          [](auto reader) { return reader.second; });
    });
  });
}

/// Whether `nest` computes the rows for the matmuls of `next`: these read its
/// last stage, and its other stages compute properties of whole rows.
static bool preparesRows(const KernelGraph &graph, const Nest &nest,
                         const Nest &next) {
  SmallVector<Nest> parts = splitContractions(next);
  std::optional<Matmul> product =
      Matmul::match(parts.empty() ? next : parts.front());
  const Stage &last = nest.stages.back();
  if (!product || !nest.rows.empty() || last.isReduction() ||
      last.op->getNumResults() != 1 ||
      KernelGraph::producer(product->operand(product->a)) != last.op)
    return false;
  if (!llvm::all_of(nest.outer, [&](Axis axis) {
        return llvm::is_contained(product->rows, axis) ||
               llvm::is_contained(product->batch, axis);
      }))
    return false;
  return llvm::all_of(nest.stages, [&](const Stage &stage) {
    bool isLast = &stage == &last;
    for (auto [loop, axis] : llvm::enumerate(stage.axes))
      if (stage.isParallel(loop) && !nest.isOuter(axis) &&
          !(isLast && llvm::is_contained(product->depth, axis)))
        return false;
    return isLast || llvm::none_of(stage.op->getResults(), [&](OpResult value) {
             return graph.isReadLater(value, nest);
           });
  });
}

Storage relax::allocateWhole(const Stage &stage, OpResult result,
                             const DenseMap<Axis, Value> &sizes,
                             OpBuilder &builder, Location loc) {
  auto type = cast<RankedTensorType>(result.getType());
  AffineMap map = stage.op.getIndexingMapMatchingResult(result);
  Storage place;
  SmallVector<Value> dynamic;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    place.dims.push_back(dim);
    if (type.isDynamicDim(dim))
      dynamic.push_back(sizes.lookup(stage.axes[map.getDimPosition(dim)]));
  }
  place.buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      dynamic, builder.getI64IntegerAttr(64));
  return place;
}

namespace {

/// Emits matmuls of the same rows, with code for different numbers of rows.
class ProductsEmitter {
public:
  ProductsEmitter(const KernelGraph &graph, OpBuilder &builder, Location loc,
                  DenseMap<Value, Storage> &storage, const Chip &chip,
                  bool asVectors)
      : graph(graph), builder(builder), loc(loc), storage(storage), chip(chip),
        subgroupSize(chip.subgroupSize), asVectors(asVectors) {}

  /// Returns the number of emitted nests; if it is zero, the caller must
  /// discard the emitted code.
  size_t emit(ArrayRef<Nest> all);

private:
  bool add(const Nest &nest) {
    auto product =
        Product::find(graph, nest, builder, loc, storage, chip, asVectors);
    if (!product)
      return false;
    products.push_back(std::move(product));
    return true;
  }
  bool collect(ArrayRef<Nest> all);
  bool isComputed() const {
    return llvm::any_of(products, [](auto &product) {
      const Matmul &matmul = product->matmul;
      return KernelGraph::producer(matmul.operand(matmul.b)) != nullptr;
    });
  }
  /// Whether there is special code for a single row.
  bool isRowSpecial() const {
    return asVectors && (prepared || (!parts.empty() && isComputed()));
  }
  LogicalResult emitRow();
  LogicalResult emitFor(int64_t rows);
  LogicalResult emitWays();

  const KernelGraph &graph;
  OpBuilder &builder;
  Location loc;
  DenseMap<Value, Storage> &storage;
  const Chip &chip;
  unsigned subgroupSize;
  bool asVectors;

  /// The nest that computes the rows, if any, and the matmul nests after it.
  const Nest *prepared = nullptr;
  ArrayRef<Nest> nests;
  /// If there is a single nest with several matmuls, a nest for each of them.
  SmallVector<Nest> parts;
  SmallVector<std::unique_ptr<Product>> products;
};

} // namespace

bool ProductsEmitter::collect(ArrayRef<Nest> all) {
  if (all.size() > 1 && preparesRows(graph, all[0], all[1])) {
    prepared = &all.front();
    all = all.drop_front();
    const Stage &last = prepared->stages.back();
    auto sizes = PointEmitter(builder, loc, 1).sizes(*prepared);
    if (failed(sizes))
      return false;
    OpResult rows = last.op->getResult(0);
    storage[rows] = allocateWhole(last, rows, *sizes, builder, loc);
  }
  parts = splitContractions(all.front());
  size_t count = 1;
  if (!parts.empty()) {
    if (!llvm::all_of(parts, [&](const Nest &part) { return add(part); }))
      return false;
  } else {
    if (!add(all.front()))
      return false;
    for (const Nest &nest : all.drop_front()) {
      std::optional<Matmul> next = Matmul::match(nest);
      if (!next || !shareRows(products.front()->matmul, *next) ||
          llvm::any_of(all.take_front(count),
                       [&](const Nest &before) {
                         return readsFrom(graph, nest, before);
                       }) ||
          !add(nest))
        break;
      ++count;
    }
  }
  nests = all.take_front(count);
  if (!prepared)
    return true;
  // The rows can be inlined only if nothing else reads them.
  auto readers =
      graph.readersOf(prepared->stages.back().op->getResult(0), *prepared);
  return llvm::all_of(readers, [&](auto reader) {
    return llvm::any_of(products, [&](auto &product) {
      return product->matmul.stage().op == reader.first;
    });
  });
}

/// Emits code for one row, in which each block also computes the operand row.
LogicalResult ProductsEmitter::emitRow() {
  auto emit = [&](ArrayRef<Matmul> together, const Nest &nest) {
    return emitMatvec(graph, together, nest, prepared, builder, loc, storage,
                      subgroupSize);
  };
  SmallVector<Matmul, 4> all;
  for (auto &product : products)
    all.push_back(product->matmul);
  if (!parts.empty())
    return emit(all, nests.front());
  Mark before(builder);
  for (auto [matmul, nest] : llvm::zip(all, nests))
    if (failed(emit(matmul, nest))) {
      before.takeBack();
      return failure();
    }
  mergeLaunches(before.before, before.end);
  return success();
}

LogicalResult ProductsEmitter::emitFor(int64_t rows) {
  // Computed operands need separate kernels, each with one product.
  if (!parts.empty() && !isComputed() &&
      rows <= products.front()->strategies.front().maxRows &&
      succeeded(emitAlone(graph, nests.front(), builder, loc, storage,
                          subgroupSize, asVectors)))
    return success();
  Mark before(builder);
  for (auto &product : products)
    if (failed(product->strategyFor(rows).emit()))
      return failure();
  if (parts.empty())
    mergeLaunches(before.before, before.end);
  return success();
}

LogicalResult ProductsEmitter::emitWays() {
  Value rows = products.front()->rows;
  std::optional<int64_t> number = getConstantIntValue(rows);
  OpBuilder::InsertionGuard guard(builder);
  // Emits code for at most `limit` rows; the builder continues in the else
  // branch.
  auto branchUpTo = [&](int64_t limit, function_ref<LogicalResult()> emit) {
    Mark mark(builder);
    Value most = arith::ConstantIndexOp::create(builder, loc, limit);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       rows, most);
    auto branch = scf::IfOp::create(builder, loc, fits,
                                    /*withElseRegion=*/true);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    if (failed(emit())) {
      mark.takeBack();
      return failure();
    }
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    return success();
  };
  int64_t done = 0;
  if (isRowSpecial() && number.value_or(1) == 1) {
    if (number && succeeded(emitRow()))
      return success();
    if (!number && succeeded(branchUpTo(1, [&] { return emitRow(); })))
      done = 1;
  }
  if (prepared && failed(emitAlone(graph, *prepared, builder, loc, storage,
                                   subgroupSize, asVectors)))
    return failure();
  if (number)
    return emitFor(*number);
  std::set<int64_t> limits;
  for (auto &product : products)
    for (const MatmulStrategy &strategy : product->strategies)
      limits.insert(strategy.maxRows);
  for (int64_t limit : limits)
    if (limit > done && limit != MatmulStrategy::any &&
        failed(branchUpTo(limit, [&] { return emitFor(limit); })))
      return failure();
  return emitFor(MatmulStrategy::any);
}

size_t ProductsEmitter::emit(ArrayRef<Nest> all) {
  if (!collect(all) || failed(emitWays()))
    return 0;
  return nests.size() + (prepared ? 1 : 0);
}

size_t relax::emitProducts(const KernelGraph &graph, ArrayRef<Nest> nests,
                           OpBuilder &builder, Location loc,
                           DenseMap<Value, Storage> &storage, const Chip &chip,
                           bool asVectors) {
  Mark mark(builder);
  DenseMap<Value, Storage> known = storage;
  size_t count = ProductsEmitter(graph, builder, loc, storage, chip, asVectors)
                     .emit(nests);
  if (!count) {
    mark.takeBack();
    storage = known;
  }
  return count;
}
