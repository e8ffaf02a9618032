//===- Convolution.cpp - convolutions -------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Convolution.h"
#include "Relax/Rules.h"
#include "Relax/Windows.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Convolution.cpp.inc"

void RelaxDialect::registerConvolutionOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Convolution.cpp.inc"
      >();
}

namespace {

/// The common part of convolutions and transposed convolutions. Dimensions are
/// in the canonical orders: N, C, axes and O, I, axes.
struct Convolution {
  std::string axes;
  SymDims data, weight;
  Layout outLayout;
  Type elementType;
  SmallVector<Window, 3> windows;
  SymExprAttr groups;
};

} // namespace

template <typename Adaptor>
static LogicalResult read(Deduction &deduction, Adaptor op, int64_t spatial,
                          Convolution &conv) {
  conv.axes = getSpatialLetters(spatial).str();
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Deduction::Tensor> weight =
      deduction.tensor(op.getWeight(), "weight");
  if (failed(data) || failed(weight) ||
      failed(deduction.sameElementType(data->elementType, "data",
                                       weight->elementType, "weight")))
    return failure();
  FailureOr<Type> elementType = elementTypeAttr(
      deduction, op.getOutDtype().value_or(data->elementType), "out_dtype");
  FailureOr<SymDims> dataDims =
      getDimsOfRank(deduction, "data", *data, spatial + 2);
  FailureOr<SymDims> weightDims =
      getDimsOfRank(deduction, "weight", *weight, spatial + 2);
  if (failed(elementType) || failed(dataDims) || failed(weightDims))
    return failure();
  conv.elementType = *elementType;

  FailureOr<Layout> dataLayout = readLayout(
      deduction, "data_layout", op.getDataLayout(), "NC" + conv.axes);
  FailureOr<Layout> kernelLayout = readLayout(
      deduction, "kernel_layout", op.getKernelLayout(), "OI" + conv.axes);
  FailureOr<Layout> outLayout = dataLayout;
  if (op.getOutLayout())
    outLayout = readLayout(deduction, "out_layout", *op.getOutLayout(),
                           "NC" + conv.axes);
  if (failed(dataLayout) || failed(kernelLayout) || failed(outLayout))
    return failure();
  conv.data = toCanonical(*dataDims, *dataLayout);
  conv.weight = toCanonical(*weightDims, *kernelLayout);
  conv.outLayout = *outLayout;

  FailureOr<SmallVector<int64_t>> strides =
      getPerAxis(deduction, "strides", op.getStrides(), spatial, 1);
  FailureOr<SmallVector<int64_t>> dilation =
      getPerAxis(deduction, "dilation", op.getDilation(), spatial, 1);
  if (failed(strides) || failed(dilation) ||
      failed(checkAtLeast(deduction, "groups", op.getGroups(), 1)))
    return failure();
  conv.groups = deduction.constant(op.getGroups());
  conv.windows.resize(spatial);
  for (auto [index, window] : llvm::enumerate(conv.windows)) {
    window.kernel = conv.weight[2 + index];
    window.stride = (*strides)[index];
    window.dilation = (*dilation)[index];
  }
  return readPadding(deduction, op.getPadding(), conv.windows);
}

/// Requires `groups` to divide a number of channels.
static LogicalResult checkGroups(Deduction &deduction, const Convolution &conv,
                                 SymExprAttr channels, StringRef name) {
  if (!channels ||
      deduction.prover().divisible(channels, conv.groups) != Truth::No)
    return success();
  return deduction.emitError()
         << "groups must divide " << name << ": " << describe(channels)
         << " is not a multiple of " << describe(conv.groups);
}

template <typename Adaptor>
static LogicalResult deduceConv(Deduction &deduction, Adaptor op,
                                int64_t spatial,
                                SmallVectorImpl<Type> &results) {
  Convolution conv;
  if (failed(read(deduction, op, spatial, conv)))
    return failure();
  SymExprAttr read = deduction.math().mul(conv.weight[1], conv.groups);
  if (deduction.math().failed() ||
      failed(deduction.equalDim(conv.data[1], "channels of data", read,
                                "groups times input channels of weight")) ||
      failed(checkGroups(deduction, conv, conv.weight[0],
                         "the output channels of weight")))
    return failure();
  SymDims dims = {conv.data[0], conv.weight[0]};
  for (auto [index, window] : llvm::enumerate(conv.windows)) {
    FailureOr<SymExprAttr> count = getWindowCount(deduction, conv.axes[index],
                                                  conv.data[2 + index], window);
    if (failed(count))
      return failure();
    dims.push_back(*count);
  }
  results.push_back(
      getTensorType(fromCanonical(dims, conv.outLayout), conv.elementType));
  return success();
}

template <typename Adaptor>
static LogicalResult deduceConvTranspose(Deduction &deduction, Adaptor op,
                                         int64_t spatial,
                                         SmallVectorImpl<Type> &results) {
  Convolution conv;
  if (failed(read(deduction, op, spatial, conv)))
    return failure();
  FailureOr<SymExprAttr> channels =
      deduction.equalDim(conv.data[1], "channels of data", conv.weight[1],
                         "input channels of weight");
  FailureOr<SmallVector<int64_t>> extra = getPerAxis(
      deduction, "output_padding", op.getOutputPadding(), spatial, 0);
  if (failed(channels) || failed(extra) ||
      failed(checkGroups(deduction, conv, *channels, "the channels of data")))
    return failure();
  SymDims dims = {conv.data[0],
                  deduction.math().mul(conv.weight[0], conv.groups)};
  for (auto [index, window] : llvm::enumerate(conv.windows)) {
    int64_t limit = std::max(window.stride, window.dilation);
    if ((*extra)[index] >= limit)
      return deduction.emitError()
             << "output_padding must be less than the stride or the dilation, "
             << limit << ", got " << (*extra)[index];
    FailureOr<SymExprAttr> extent =
        getTransposedExtent(deduction, conv.axes[index], conv.data[2 + index],
                            window, (*extra)[index]);
    if (failed(extent))
      return failure();
    dims.push_back(*extent);
  }
  if (deduction.math().failed())
    return failure();
  results.push_back(
      getTensorType(fromCanonical(dims, conv.outLayout), conv.elementType));
  return success();
}

LogicalResult Conv1DOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  return deduceConv(deduction, op, 1, results);
}

LogicalResult Conv2DOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  return deduceConv(deduction, op, 2, results);
}

LogicalResult Conv3DOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  return deduceConv(deduction, op, 3, results);
}

LogicalResult Conv1DTransposeOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  return deduceConvTranspose(deduction, op, 1, results);
}

LogicalResult Conv2DTransposeOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  return deduceConvTranspose(deduction, op, 2, results);
}

LogicalResult Conv3DTransposeOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  return deduceConvTranspose(deduction, op, 3, results);
}
