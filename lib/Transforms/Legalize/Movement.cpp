//===- Movement.cpp - helpers of kernels that move elements ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/Movement.h"

#include "Relax/Rules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;

OpFoldResult relax::getSize(KernelBuilder &kernel, SymExprAttr dim) {
  if (auto value = dim.getConstantValue())
    return kernel.builder().getIndexAttr(*value);
  return kernel.size(dim);
}

SmallVector<OpFoldResult> relax::getSizes(KernelBuilder &kernel,
                                          ArrayRef<SymExprAttr> dims) {
  return llvm::map_to_vector(
      dims, [&](SymExprAttr dim) { return getSize(kernel, dim); });
}

bool relax::hasNoElement(ArrayRef<SymExprAttr> dims) {
  return llvm::any_of(dims, [](SymExprAttr dim) { return dim.isConstant(0); });
}

Value relax::insertSlice(KernelBuilder &kernel, Value part, Value whole,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<OpFoldResult> strides) {
  if (hasNoElement(kernel.dims(part)) || hasNoElement(kernel.dims(whole)))
    return whole;
  return kernel.withDims(tensor::InsertSliceOp::create(kernel.builder(), part,
                                                       whole, offsets, sizes,
                                                       strides),
                         SymDims(kernel.dims(whole)));
}

Value relax::extractSlice(KernelBuilder &kernel, Value whole,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<SymExprAttr> dims,
                          ArrayRef<OpFoldResult> strides) {
  if (hasNoElement(dims))
    return kernel.empty(dims, getElementType(whole));
  return kernel.withDims(
      tensor::ExtractSliceOp::create(kernel.builder(), whole, offsets,
                                     getSizes(kernel, dims), strides),
      dims);
}

Value relax::insertAt(KernelBuilder &kernel, Value part, Value whole,
                      int64_t axis, OpFoldResult offset) {
  ScalarBuilder &builder = kernel.builder();
  SymDims dims(kernel.dims(part)), wholeDims(kernel.dims(whole));
  SmallVector<OpFoldResult> sizes = getSizes(kernel, dims);
  if (dims.size() < wholeDims.size())
    sizes.insert(sizes.begin() + axis, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  offsets[axis] = offset;
  return insertSlice(kernel, part, whole, offsets, sizes, strides);
}

Value relax::extractAt(KernelBuilder &kernel, Value whole, int64_t axis,
                       OpFoldResult offset, ArrayRef<SymExprAttr> dims,
                       int64_t stride) {
  ScalarBuilder &builder = kernel.builder();
  SmallVector<OpFoldResult> offsets(dims.size(), builder.getIndexAttr(0)),
      strides(dims.size(), builder.getIndexAttr(1));
  offsets[axis] = offset;
  strides[axis] = builder.getIndexAttr(stride);
  return extractSlice(kernel, whole, offsets, dims, strides);
}

Value relax::flatten(KernelBuilder &kernel, Value tensor) {
  SymDims dims(kernel.dims(tensor));
  ScalarBuilder &builder = kernel.builder();
  if (dims.size() == 1)
    return tensor;
  SymExprAttr count = countElements(kernel.math(), dims);
  int64_t size = count.getConstantValue().value_or(ShapedType::kDynamic);
  auto type = RankedTensorType::get(size, getElementType(tensor));
  if (dims.empty())
    return kernel.withDims(
        tensor::ExpandShapeOp::create(builder, type, tensor,
                                      ArrayRef<ReassociationIndices>{}),
        count);
  ReassociationIndices all =
      llvm::to_vector<2>(llvm::seq<int64_t>(dims.size()));
  Value flat = tensor::CollapseShapeOp::create(
      builder, tensor, ArrayRef<ReassociationIndices>(all));
  if (flat.getType() != type)
    flat = tensor::CastOp::create(builder, type, flat);
  return kernel.withDims(flat, count);
}

Value relax::clampPosition(ScalarBuilder &s, Value position, Value size,
                           bool backwards) {
  Value zero = s.index(0);
  Value isNegative = s.compare(CmpIPredicate::slt, position, zero);
  Value fromStart = s.select(isNegative, s.add(position, size), position);
  Value first = backwards ? s.index(-1) : zero;
  Value last = backwards ? s.sub(size, s.index(1)) : size;
  return s.max(s.min(fromStart, last), first);
}
