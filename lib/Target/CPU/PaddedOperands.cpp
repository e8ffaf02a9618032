//===- PaddedOperands.cpp - padded operands of sums in memory -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution reads its data padded, and a transposed one with zeros between
// the elements as well:
//
//   %filled = linalg.fill ins(%zero) outs(%empty)
//   %padded = tensor.insert_slice %data into %filled[0, 0, 1, 1]
//   linalg.generic ins(%padded, %weight)
//
// Schedules compute elements at any point, but not of an inserted slice. The
// padded tensor is small compared with the work on it, so it is written to
// scratch memory first, and the sum reads that without any test of its bounds.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/PaddedOperands.h"

#include "Analysis/KernelPattern.h"
#include "Target/Schedule/LongSums.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

/// Whether a long sum reads a tensor, perhaps through views of all of it.
static bool isReadByLongSum(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    if (auto nest = dyn_cast<linalg::GenericOp>(user))
      return isLongSum(nest);
    return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
               user) &&
           isReadByLongSum(user->getResult(0));
  });
}

/// The buffer of a parameter, through casts; null for other tensors.
static Value getBuffer(Value tensor) {
  auto view =
      lookThroughCasts(tensor).getDefiningOp<bufferization::ToTensorOp>();
  return view ? view.getBuffer() : Value();
}

static void store(tensor::InsertSliceOp slice, Value source,
                  linalg::FillOp fill, tensor::EmptyOp empty) {
  OpBuilder builder(slice);
  Location loc = slice.getLoc();
  auto type = cast<RankedTensorType>(slice.getType());
  Value buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      empty.getDynamicSizes());
  int64_t rank = type.getRank();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  auto values = [&](ArrayRef<OpFoldResult> numbers) {
    return getValueOrCreateConstantIndexOp(builder, loc, numbers);
  };
  auto sizesOf = [&](Value memory) {
    return values(memref::getMixedSizes(builder, loc, memory));
  };
  SmallVector<Value> zeros(rank, constant(0)), ones(rank, constant(1));
  scf::buildLoopNest(builder, loc, zeros, sizesOf(buffer), ones,
                     [&](OpBuilder &inner, Location loc, ValueRange at) {
                       memref::StoreOp::create(inner, loc, fill.value(), buffer,
                                               at);
                     });
  SmallVector<Value> offsets = values(slice.getMixedOffsets()),
                     strides = values(slice.getMixedStrides());
  scf::buildLoopNest(
      builder, loc, zeros, sizesOf(source), ones,
      [&](OpBuilder &inner, Location loc, ValueRange at) {
        Value element = memref::LoadOp::create(inner, loc, source, at);
        SmallVector<Value> to;
        for (auto [index, stride, offset] :
             llvm::zip_equal(at, strides, offsets))
          to.push_back(arith::AddIOp::create(
              inner, loc, arith::MulIOp::create(inner, loc, index, stride),
              offset));
        memref::StoreOp::create(inner, loc, element, buffer, to);
      });
  slice.replaceAllUsesWith(bufferization::ToTensorOp::create(
                               builder, loc, type, buffer, /*restrict=*/true)
                               .getResult());
  slice.erase();
}

void relax::storePaddedOperands(func::FuncOp kernel) {
  for (auto slice :
       llvm::make_early_inc_range(kernel.getOps<tensor::InsertSliceOp>())) {
    Value source = getBuffer(slice.getSource());
    auto fill = slice.getDest().getDefiningOp<linalg::FillOp>();
    auto empty = fill ? fill.output().getDefiningOp<tensor::EmptyOp>()
                      : tensor::EmptyOp();
    bool hasEqualRanks =
        slice.getSourceType().getRank() == slice.getType().getRank();
    if (source && empty && hasEqualRanks &&
        !slice.getType().getElementType().isInteger(1) &&
        isReadByLongSum(slice))
      store(slice, source, fill, empty);
  }
}
