//===- PlainSums.cpp - accurate sums in plain loops -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction without a schedule becomes a loop with one accumulator per
// result. If its sums may be long, it gets a second result, the rounding error
// of the first, which is added to it at the end.
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/LongSums.h"
#include "Transforms/TwoSum.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::relax;

bool relax::isLongSum(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !op.getNumReductionLoops() || !Totals::hasSums(Totals::combinersOf(op)))
    return false;
  SmallVector<std::optional<int64_t>> sizes;
  for (auto [size, kind] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      sizes.push_back(ShapedType::isDynamic(size)
                          ? std::nullopt
                          : std::optional<int64_t>(size));
  return SumBlocks::choose(sizes, maxTerms).has_value();
}

/// A zero tensor with the shape of `tensor`.
static Value zerosLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamic.push_back(tensor::DimOp::create(builder, loc, tensor, dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type, dynamic);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

static void keepLost(linalg::GenericOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value init = op.getDpsInits().front(), lost = zerosLike(builder, loc, init);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps.back();
  maps.push_back(map);
  auto both = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType(), lost.getType()},
      op.getDpsInputs(), ValueRange{init, lost}, maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), arguments.drop_back());
        Operation *add =
            op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
        for (Operation &inner : op.getBody()->without_terminator())
          if (&inner != add)
            builder.clone(inner, mapping);
        Value before = op.getBody()->getArguments().back();
        Value term = add->getOperand(add->getOperand(0) == before ? 1 : 0);
        LosslessSum sum{mapping.lookup(before), arguments.back()};
        sum = sum.add(builder, loc, mapping.lookupOrDefault(term));
        linalg::YieldOp::create(builder, loc, ValueRange{sum.total, sum.lost});
      });
  int64_t rank = map.getNumResults();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  auto sums = linalg::GenericOp::create(
      builder, loc, init.getType(), both.getResult(1), both.getResult(0),
      ArrayRef<AffineMap>{identity, identity},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        LosslessSum sum{arguments[1], arguments[0]};
        linalg::YieldOp::create(builder, loc, sum.value(builder, loc));
      });
  op->replaceAllUsesWith(sums->getResults());
  op.erase();
}

void relax::keepLostOfSums(func::FuncOp kernel) {
  SmallVector<linalg::GenericOp> sums;
  kernel.walk([&](linalg::GenericOp op) {
    if (isLongSum(op))
      sums.push_back(op);
  });
  for (linalg::GenericOp op : sums)
    keepLost(op);
}
