//===- Products.cpp - products of matrices of one operand -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Products.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Where a builder stands, to take back what is emitted from there on.
class Mark {
public:
  explicit Mark(OpBuilder &builder)
      : builder(builder), block(builder.getInsertionBlock()),
        end(&*builder.getInsertionPoint()), before(end->getPrevNode()) {}

  void takeBack() {
    while (end->getPrevNode() != before)
      end->getPrevNode()->erase();
    builder.setInsertionPoint(block, end->getIterator());
  }

  OpBuilder &builder;
  Block *block;
  Operation *end, *before;
};

} // namespace

LogicalResult relax::emitAlone(const KernelGraph &graph, const Nest &nest,
                               OpBuilder &builder, Location loc,
                               const DenseMap<Value, Storage> &storage,
                               unsigned subgroupSize, bool asVectors) {
  Mark mark(builder);
  for (bool wide : {true, false}) {
    int64_t width =
        wide && asVectors ? LaunchEmitter::chooseWidth(graph, nest) : 1;
    DenseMap<Value, Storage> results = storage;
    if (succeeded(LaunchEmitter(graph, nest, builder, loc, results,
                                subgroupSize, width)
                      .emit()))
      return success();
    mark.takeBack();
  }
  return failure();
}

/// The nests of one contraction each that a nest of several is made of; none
/// where it has one only.
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

/// Whether the rows of two products are those of one operand.
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

/// Whether a nest reads what another one computes.
static bool readsFrom(const KernelGraph &graph, const Nest &nest,
                      const Nest &source) {
  return llvm::any_of(source.stages, [&](const Stage &stage) {
    return llvm::any_of(stage.op->getResults(), [&](OpResult result) {
      return llvm::any_of(graph.readersOf(result, nest),
                          [](auto reader) { return reader.second; });
    });
  });
}

size_t relax::emitProducts(const KernelGraph &graph, ArrayRef<Nest> nests,
                           OpBuilder &builder, Location loc,
                           DenseMap<Value, Storage> &storage, const Chip &chip,
                           bool asVectors) {
  Mark mark(builder);
  DenseMap<Value, Storage> known = storage;
  SmallVector<std::unique_ptr<Product>> products;
  auto add = [&](const Nest &nest) {
    auto product =
        Product::find(graph, nest, builder, loc, storage, chip, asVectors);
    bool isProduct = product != nullptr;
    if (isProduct)
      products.push_back(std::move(product));
    return isProduct;
  };
  auto giveUp = [&]() -> size_t {
    mark.takeBack();
    storage = known;
    return 0;
  };

  size_t count = 1;
  SmallVector<Nest> parts = splitContractions(nests.front());
  if (!parts.empty()) {
    if (!llvm::all_of(parts, add))
      return giveUp();
  } else {
    if (!add(nests.front()))
      return giveUp();
    for (const Nest &nest : nests.drop_front()) {
      std::optional<Matmul> next = Matmul::match(nest);
      if (!next || !shareRows(products.front()->matmul, *next) ||
          llvm::any_of(nests.take_front(count),
                       [&](const Nest &before) {
                         return readsFrom(graph, nest, before);
                       }) ||
          !add(nest))
        break;
      ++count;
    }
  }

  // Matrices that are computed have a form of their own, of one product.
  bool isComputed = llvm::any_of(products, [](auto &product) {
    const Matmul &matmul = product->matmul;
    return KernelGraph::producer(matmul.operand(matmul.b)) != nullptr;
  });
  auto emitFor = [&](int64_t rows) -> LogicalResult {
    if (!parts.empty() && !isComputed &&
        rows <= products.front()->ways.front().maxRows &&
        succeeded(emitAlone(graph, nests.front(), builder, loc, storage,
                            chip.subgroupSize, asVectors)))
      return success();
    Mark before(builder);
    for (auto &product : products)
      if (failed(product->wayFor(rows).emit()))
        return failure();
    if (parts.empty())
      mergeLaunches(before.before, before.end);
    return success();
  };
  auto emitWays = [&]() -> LogicalResult {
    Value rows = products.front()->rows;
    if (std::optional<int64_t> number = getConstantIntValue(rows))
      return emitFor(*number);
    std::set<int64_t> limits;
    for (auto &product : products)
      for (const Way &way : product->ways)
        limits.insert(way.maxRows);
    OpBuilder::InsertionGuard guard(builder);
    for (int64_t limit : limits) {
      if (limit == Way::any)
        break;
      Value most = arith::ConstantIndexOp::create(builder, loc, limit);
      Value fits = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::ule, rows, most);
      auto branch = scf::IfOp::create(builder, loc, fits,
                                      /*withElseRegion=*/true);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
      if (failed(emitFor(limit)))
        return failure();
      builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    }
    return emitFor(Way::any);
  };
  return succeeded(emitWays()) ? count : giveUp();
}
