//===- ParallelLoops.cpp - parallel loops in kernels ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/ParallelLoops.h"

#include "Transforms/Legalize/MergeSort.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Box Box::element(Scalars &s, ValueRange position) {
  return {getAsOpFoldResult(position),
          SmallVector<OpFoldResult>(position.size(), s.getIndexAttr(1))};
}

Box Box::line(Scalars &s, ValueRange others, int64_t axis, OpFoldResult offset,
              OpFoldResult size) {
  Box box = element(s, others);
  box.offsets.insert(box.offsets.begin() + axis, offset);
  box.sizes.insert(box.sizes.begin() + axis, size);
  return box;
}

/// The type of the box without dimensions of size 1.
static RankedTensorType getBoxType(const Box &box, Value tensor) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : box.sizes)
    if (isa<Value>(size))
      shape.push_back(ShapedType::kDynamic);
    else if (*getConstantIntValue(size) != 1)
      shape.push_back(*getConstantIntValue(size));
  return RankedTensorType::get(
      shape, cast<RankedTensorType>(tensor.getType()).getElementType());
}

Values
relax::forAll(Scalars &s, ValueRange sizes, ValueRange outputs,
              function_ref<SmallVector<Box>(Scalars &, ValueRange)> boxes,
              function_ref<Values(Scalars &, ValueRange, ValueRange)> body) {
  SmallVector<OpFoldResult> counts = getAsOpFoldResult(sizes);
  if (counts.empty())
    counts.push_back(s.getIndexAttr(1));
  auto loop =
      scf::ForallOp::create(s, counts, outputs, /*mapping=*/std::nullopt);
  Scalars inner(s.getLoc(), s.getContext());
  inner.setInsertionPointToStart(loop.getBody());
  Values position = loop.getInductionVars();
  position.truncate(sizes.size());
  SmallVector<Box> places = boxes(inner, position);
  Values parts;
  auto stridesOf = [&](const Box &box) {
    return SmallVector<OpFoldResult>(box.offsets.size(), s.getIndexAttr(1));
  };
  for (auto [box, output] : llvm::zip(places, loop.getRegionIterArgs()))
    parts.push_back(
        tensor::ExtractSliceOp::create(inner, getBoxType(box, output), output,
                                       box.offsets, box.sizes, stridesOf(box)));
  Values done = body(inner, position, parts);
  inner.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [part, box, output] :
       llvm::zip(done, places, loop.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(inner, part, output, box.offsets,
                                          box.sizes, stridesOf(box));
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

Chunks::Chunks(KernelBuilder &kernel, SymExprAttr count)
    : size(kernel.size(count)) {
  Scalars &s = kernel.builder();
  // A power of two that is at least the square root of `count`.
  Type i64 = s.getI64Type();
  Value one = s.index(1);
  Value leadingZeros = math::CountLeadingZerosOp::create(
      s, arith::IndexCastOp::create(s, i64, s.max(size, one)));
  Value bits = s.sub(s.index(65), s.toIndex(leadingZeros));
  chunkSize =
      arith::ShLIOp::create(s, one, arith::ShRUIOp::create(s, bits, one));
  number = arith::CeilDivSIOp::create(s, size, chunkSize);
  // sqrt(n) <= n / 32 + 8
  SymBuilder &math = kernel.math();
  bound =
      math.add(math.floordiv(count, kernel.constant(32)), kernel.constant(11));
}

Value Chunks::first(Scalars &s, Value chunk) const {
  return s.mul(chunk, chunkSize);
}

Value Chunks::length(Scalars &s, Value chunk) const {
  return s.min(chunkSize, s.sub(size, first(s, chunk)));
}

Value relax::scanChunks(KernelBuilder &kernel, const Chunks &chunks,
                        ArrayRef<SymExprAttr> outer, Value identity,
                        const Running &running,
                        function_ref<Value(Scalars &, ValueRange, Value)> sum) {
  Scalars &s = kernel.builder();
  SymDims dims(outer);
  Values sizes;
  for (SymExprAttr dim : dims)
    sizes.push_back(kernel.size(dim));
  dims.push_back(chunks.bound);
  Value totals = kernel.empty(dims, identity.getType());
  Values allSizes(sizes);
  allSizes.push_back(chunks.number);
  totals = forAll(
      s, allSizes, totals,
      [](Scalars &s, ValueRange position) -> SmallVector<Box> {
        return {Box::element(s, position)};
      },
      [&](Scalars &s, ValueRange position, ValueRange parts) -> Values {
        Value total = sum(s, position.drop_back(), position.back());
        return {writeElement(s, total, parts[0], {})};
      })[0];
  Value size = kernel.size(chunks.bound);
  return forAll(
      s, sizes, totals,
      [&](Scalars &s, ValueRange position) -> SmallVector<Box> {
        return {Box::line(s, position, position.size(), s.getIndexAttr(0),
                          getAsOpFoldResult(size))};
      },
      [&](Scalars &s, ValueRange, ValueRange parts) -> Values {
        Values carried = running.start(s, identity);
        carried.insert(carried.begin(), parts[0]);
        Values along =
            forLoop(s, s.index(0), chunks.number, s.index(1), carried,
                    [&](Scalars &s, Value chunk, ValueRange state) -> Values {
                      ValueRange before = state.drop_front();
                      Value own = readElement(s, state[0], chunk);
                      Values next = running.next(s, before, own);
                      next.insert(next.begin(),
                                  writeElement(s, running.value(s, before),
                                               state[0], chunk));
                      return next;
                    });
        Value total = running.value(s, ValueRange(along).drop_front());
        return {writeElement(s, total, along[0], chunks.number)};
      })[0];
}
