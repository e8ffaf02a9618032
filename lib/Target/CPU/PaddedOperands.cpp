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
// Schedules compute elements of an inserted slice at any point, with a test of
// its bounds, and elements of a padded tensor and of a concatenation alike.
// Where a reduction reads each element several times, the tensor is written to
// scratch memory first, and read without tests.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/PaddedOperands.h"

#include "Analysis/KernelPattern.h"
#include "Target/Schedule/PointEmitter.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

/// Whether a reduction reads elements of a tensor more than once, perhaps
/// through views of all of it.
static bool isReadRepeatedly(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto nest = dyn_cast<linalg::GenericOp>(user))
      return nest.getNumReductionLoops() > 0 && nest.isDpsInput(&use) &&
             !nest.getMatchingIndexingMap(&use).isPermutation();
    return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
               user) &&
           isReadRepeatedly(user->getResult(0));
  });
}

/// The buffer of a parameter, through casts; null for other tensors.
static Value getBuffer(Value tensor) {
  auto view =
      lookThroughCasts(tensor).getDefiningOp<bufferization::ToTensorOp>();
  return view ? view.getBuffer() : Value();
}

/// Writes a slice whose elements are apart in its destination, by plain loops.
static void insertApart(OpBuilder &builder, tensor::InsertSliceOp slice,
                        Value source, Value filler, Value buffer) {
  Location loc = slice.getLoc();
  int64_t rank = slice.getType().getRank();
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
                       memref::StoreOp::create(inner, loc, filler, buffer, at);
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
}

/// Writes `tensor`, which is assembled from others, to scratch memory, if that
/// is possible.
static void store(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  auto type = cast<RankedTensorType>(tensor.getType());
  // Booleans are bytes in memory.
  if (type.getElementType().isInteger(1))
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  auto slice = dyn_cast<tensor::InsertSliceOp>(op);
  if (slice && slice.getSourceType().getRank() != type.getRank())
    return;
  bool isApart = slice && !slice.hasUnitStride();
  auto fill = slice ? slice.getDest().getDefiningOp<linalg::FillOp>()
                    : linalg::FillOp();
  Value source = slice ? getBuffer(slice.getSource()) : Value();
  // Plain loops run before all nests, so they must not read what nests write.
  if (isApart && (!fill || !source || source.getDefiningOp<memref::AllocOp>()))
    return;
  PointEmitter sizes(builder, loc, 1);
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamic.push_back(sizes.size(tensor, dim));
  Value buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      dynamic, builder.getI64IntegerAttr(64));
  Value stored = bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                                   /*restrict=*/true);
  tensor.replaceAllUsesWith(stored);
  builder.setInsertionPoint(stored.getDefiningOp());
  if (isApart) {
    insertApart(builder, slice, source, fill.value(), buffer);
    slice.erase();
    return;
  }
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, TypeRange(), tensor, buffer, /*restrict=*/true,
      /*writable=*/true);
}

void relax::storePaddedOperands(func::FuncOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(kernel.getOps()))
    if (isa<tensor::ConcatOp, tensor::InsertSliceOp, tensor::PadOp>(op) &&
        isReadRepeatedly(op.getResult(0)))
      store(op.getResult(0));
}
