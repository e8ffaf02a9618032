//===- Pooling.cpp - pooling ----------------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Pooling.h"
#include "Relax/Forwarding.h"
#include "Relax/SymDirectives.h"
#include "Relax/Windows.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Pooling.cpp.inc"

void RelaxDialect::registerPoolingOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Pooling.cpp.inc"
      >();
}

namespace {

/// `data` in the canonical order N, C, axes, and the layout of the result.
struct Pooling {
  std::string axes;
  Type elementType;
  SymDims data;
  Layout outLayout;
};

} // namespace

template <typename Adaptor>
static LogicalResult read(Deduction &deduction, Adaptor op, int64_t spatial,
                          Pooling &pool) {
  pool.axes = getSpatialLetters(spatial).str();
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  pool.elementType = data->elementType;
  FailureOr<SymDims> dims =
      getDimsOfRank(deduction, "data", *data, spatial + 2);
  FailureOr<Layout> layout =
      readLayout(deduction, "layout", op.getLayout(), "NC" + pool.axes);
  FailureOr<Layout> outLayout = layout;
  if (op.getOutLayout())
    outLayout = readLayout(deduction, "out_layout", *op.getOutLayout(),
                           "NC" + pool.axes);
  if (failed(dims) || failed(layout) || failed(outLayout))
    return failure();
  pool.data = toCanonical(*dims, *layout);
  pool.outLayout = *outLayout;
  return success();
}

//===----------------------------------------------------------------------===//
// Sliding windows
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult deducePool(Deduction &deduction, Adaptor op,
                                int64_t spatial,
                                SmallVectorImpl<Type> &results) {
  Pooling pool;
  if (failed(read(deduction, op, spatial, pool)))
    return failure();
  FailureOr<SmallVector<int64_t>> size =
      getPerAxis(deduction, "pool_size", op.getPoolSize(), spatial, 1);
  FailureOr<SmallVector<int64_t>> strides =
      getPerAxis(deduction, "strides", op.getStrides(), spatial, 1);
  FailureOr<SmallVector<int64_t>> dilation =
      getPerAxis(deduction, "dilation", op.getDilation(), spatial, 1);
  SmallVector<Window, 3> windows(spatial);
  if (failed(size) || failed(strides) || failed(dilation) ||
      failed(readPadding(deduction, op.getPadding(), windows)))
    return failure();
  SymDims dims = {pool.data[0], pool.data[1]};
  for (auto [index, window] : llvm::enumerate(windows)) {
    window.kernel = deduction.constant((*size)[index]);
    window.stride = (*strides)[index];
    window.dilation = (*dilation)[index];
    FailureOr<SymExprAttr> count =
        getWindowCount(deduction, pool.axes[index], pool.data[2 + index],
                       window, op.getCeilMode());
    if (failed(count))
      return failure();
    dims.push_back(*count);
  }
  results.push_back(
      getTensorType(fromCanonical(dims, pool.outLayout), pool.elementType));
  return success();
}

/// A window of one element and stride one is the identity.
template <typename Op>
static OpFoldResult foldPool(Op op) {
  auto all = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [=](int64_t v) { return v == value; });
  };
  bool sameLayout =
      op.getOutLayout().value_or(op.getLayout()) == op.getLayout();
  if (sameLayout && all(op.getPoolSize(), 1) && all(op.getStrides(), 1) &&
      all(op.getPadding(), 0) && op.getData().getType() == op.getType())
    return forward(op.getData(), op);
  return {};
}

#define RELAX_POOL_OP(Op, spatial)                                             \
  LogicalResult Op::deduce(Deduction &deduction, Adaptor op,                   \
                           SmallVectorImpl<Type> &results) {                   \
    return deducePool(deduction, op, spatial, results);                        \
  }                                                                            \
  OpFoldResult Op::fold(FoldAdaptor) { return foldPool(*this); }

RELAX_POOL_OP(MaxPool1DOp, 1)
RELAX_POOL_OP(MaxPool2DOp, 2)
RELAX_POOL_OP(MaxPool3DOp, 3)
RELAX_POOL_OP(AvgPool1DOp, 1)
RELAX_POOL_OP(AvgPool2DOp, 2)
RELAX_POOL_OP(AvgPool3DOp, 3)

//===----------------------------------------------------------------------===//
// Adaptive pooling
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult deduceAdaptivePool(Deduction &deduction, Adaptor op,
                                        int64_t spatial,
                                        SmallVectorImpl<Type> &results) {
  Pooling pool;
  if (failed(read(deduction, op, spatial, pool)))
    return failure();
  if (ShapeAttr size = op.getOutputSizeAttr()) {
    ArrayRef<SymExprAttr> sizes = size.getDims();
    if (sizes.size() != 1 && sizes.size() != size_t(spatial))
      return deduction.emitError() << "output_size must have 1 or " << spatial
                                   << " values, got " << sizes.size();
    SymExprAttr zero = deduction.constant(0);
    for (int64_t index = 0; index < spatial; ++index) {
      SymExprAttr &extent = pool.data[2 + index];
      SymExprAttr wanted = sizes.size() == 1 ? sizes[0] : sizes[index];
      if (!wanted)
        return deduction.emitError()
               << "output_size must be known, got " << size;
      if (deduction.prover().equal(extent, zero) == Truth::Yes &&
          deduction.prover().equal(wanted, zero) == Truth::No)
        return deduction.emitError()
               << "data is empty along '" << pool.axes.substr(index, 1)
               << "', it cannot be pooled to " << describe(wanted);
      extent = wanted;
    }
  }
  results.push_back(getTensorType(fromCanonical(pool.data, pool.outLayout),
                                  pool.elementType));
  return success();
}

LogicalResult AdaptiveAvgPool1DOp::deduce(Deduction &deduction, Adaptor op,
                                          SmallVectorImpl<Type> &results) {
  return deduceAdaptivePool(deduction, op, 1, results);
}

LogicalResult AdaptiveAvgPool2DOp::deduce(Deduction &deduction, Adaptor op,
                                          SmallVectorImpl<Type> &results) {
  return deduceAdaptivePool(deduction, op, 2, results);
}

LogicalResult AdaptiveAvgPool3DOp::deduce(Deduction &deduction, Adaptor op,
                                          SmallVectorImpl<Type> &results) {
  return deduceAdaptivePool(deduction, op, 3, results);
}
