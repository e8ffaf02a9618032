//===- Image.cpp - padding and resizing -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Image.h"
#include "Relax/Forwarding.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"
#include "Relax/Windows.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Image.cpp.inc"

void RelaxDialect::registerImageOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Image.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

/// Checks whether one side of an axis may be padded by `width` in this mode;
/// reports an error only if it certainly may not.
static LogicalResult checkPadWidth(Deduction &deduction, StringRef mode,
                                   int64_t axis, SymExprAttr extent,
                                   SymExprAttr width) {
  const Prover &prover = deduction.prover();
  SymBuilder &math = deduction.math();
  auto report = [&](const Twine &limits) -> LogicalResult {
    return deduction.emitError()
           << "padding with mode '" << mode << "' must be " << limits
           << " on dimension " << axis << " of size " << describe(extent)
           << ", got " << describe(width);
  };
  SymExprAttr zero = math.constant(0);
  if (mode == "constant")
    return success();
  if (prover.less(width, zero) == Truth::Yes)
    return report("at least 0");
  if (mode == "replicate")
    return prover.equal(extent, zero) == Truth::Yes &&
                   prover.equal(width, zero) == Truth::No
               ? report("0")
               : success();
  bool reflect = mode == "reflect";
  // No padding is always legal, even of an empty axis.
  if (prover.equal(width, zero) == Truth::No &&
      prover.less(reflect ? math.sub(extent, math.constant(1)) : extent,
                  width) == Truth::Yes)
    return report(reflect ? "less than the size" : "at most the size");
  return success();
}

LogicalResult PadOp::deduce(Deduction &deduction, Adaptor op,
                            SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data) ||
      failed(checkOneOf(deduction, "pad_mode", op.getPadMode(),
                        {"constant", "reflect", "replicate", "circular"})))
    return failure();
  if (Attribute value = op.getPadValueAttr();
      value && isa<FloatAttr>(value) != isa<FloatType>(data->elementType))
    return deduction.emitError()
           << "pad_value must be "
           << (isa<FloatAttr>(value) ? "an integer" : "a float")
           << " for elements of type " << data->elementType << ", got "
           << value;
  SmallVector<SymExprAttr> widths;
  if (ArrayAttr given = op.getPadWidthAttr())
    widths = getSymExprs(given);
  if (llvm::is_contained(widths, SymExprAttr()))
    return deduction.emitError() << "pad_width must be known";
  if (widths.size() % 2 != 0 ||
      (data->ranked && int64_t(widths.size()) != 2 * data->rank())) {
    InFlightDiagnostic diagnostic = deduction.emitError();
    diagnostic << "pad_width must have 2 values for each axis";
    if (data->ranked)
      diagnostic << ", " << 2 * data->rank();
    return diagnostic << ", got " << widths.size();
  }
  SymBuilder &math = deduction.math();
  SymDims dims = data->ranked ? data->dims : SymDims(widths.size() / 2);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    SymExprAttr before = widths[2 * axis], after = widths[2 * axis + 1];
    for (SymExprAttr width : {before, after})
      if (failed(checkPadWidth(deduction, op.getPadMode(), axis, dim, width)))
        return failure();
    SymExprAttr padded = math.sum({dim, before, after});
    if (math.failed())
      return failure();
    if (padded &&
        deduction.prover().less(padded, math.constant(0)) == Truth::Yes)
      return deduction.emitError()
             << "pad_width crops dimension " << axis << " of size "
             << describe(dim) << " to " << describe(padded);
    dim = padded;
  }
  results.push_back(getTensorType(dims, data->elementType));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool nothing =
      llvm::all_of(getSymExprs(getPadWidth()), [](SymExprAttr width) {
        return width && width.isConstant(0);
      });
  if (nothing && getData().getType() == getType())
    return forward(getData(), *this);
  return {};
}

//===----------------------------------------------------------------------===//
// Resize2DOp
//===----------------------------------------------------------------------===//

LogicalResult Resize2DOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<ShapeType> size = deduction.shape(op.getSize(), "size");
  if (failed(data) || failed(size))
    return failure();
  FailureOr<SymDims> dims = getDimsOfRank(deduction, "data", *data, 4);
  FailureOr<Layout> layout =
      readLayout(deduction, "layout", op.getLayout(), "NCHW");
  FailureOr<Type> elementType = elementTypeAttr(
      deduction, op.getOutDtype().value_or(data->elementType), "out_dtype");
  if (failed(dims) || failed(layout) || failed(elementType) ||
      failed(checkOneOf(deduction, "method", op.getMethod(),
                        {"nearest_neighbor", "linear", "cubic"})) ||
      failed(checkOneOf(deduction, "coordinate_transformation_mode",
                        op.getCoordinateTransformationMode(),
                        {"half_pixel", "align_corners", "asymmetric",
                         "pytorch_half_pixel", "tf_half_pixel_for_nn",
                         "tf_crop_and_resize"})) ||
      failed(checkOneOf(deduction, "rounding_method", op.getRoundingMethod(),
                        {"round", "round_prefer_floor", "round_prefer_ceil",
                         "floor", "ceil"})))
    return failure();
  if (op.getRoi().size() != 4)
    return deduction.emitError()
           << "roi must have 4 values, got " << op.getRoi().size();
  if (size->getRanked() && size->getRank() != 2)
    return deduction.emitError()
           << "size must have 2 dimensions, got " << size->getRank();
  SymDims result = toCanonical(*dims, *layout);
  SymExprAttr zero = deduction.constant(0);
  for (int64_t axis : {0, 1}) {
    SymExprAttr wanted =
        size->getRanked() ? size->getDims()[axis] : SymExprAttr();
    SymExprAttr &extent = result[2 + axis];
    if (deduction.prover().equal(extent, zero) == Truth::Yes &&
        deduction.prover().equal(wanted, zero) == Truth::No)
      return deduction.emitError()
             << "data is empty along '" << getSpatialLetters(2).substr(axis, 1)
             << "', it cannot be resized to " << describe(wanted);
    extent = wanted;
  }
  results.push_back(
      getTensorType(fromCanonical(result, *layout), *elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// PixelShuffleOp
//===----------------------------------------------------------------------===//

LogicalResult PixelShuffleOp::deduce(Deduction &deduction, Adaptor op,
                                     SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  if (failed(data))
    return failure();
  IntegerAttr factor = op.getUpscaleFactorAttr();
  if (!factor ||
      failed(checkAtLeast(deduction, "upscale_factor", factor.getInt(), 1)))
    return failure();
  if (!data->ranked) {
    results.push_back(UnrankedTensorType::get(data->elementType));
    return success();
  }
  if (data->rank() < 3)
    return deduction.emitError()
           << "data must have rank 3 or more, got rank " << data->rank();
  SymBuilder &math = deduction.math();
  SymExprAttr scale = math.constant(factor.getInt());
  SymExprAttr area = math.mul(scale, scale);
  if (math.failed())
    return failure();
  SymDims dims = data->dims;
  auto [channels, height, width] = std::tie(
      dims[dims.size() - 3], dims[dims.size() - 2], dims[dims.size() - 1]);
  if (channels && deduction.prover().divisible(channels, area) == Truth::No)
    return deduction.emitError()
           << "the channels of data must be a multiple of upscale_factor "
           << "squared, " << describe(area) << ", got " << describe(channels);
  channels = math.floordiv(channels, area);
  height = math.mul(height, scale);
  width = math.mul(width, scale);
  results.push_back(getTensorType(dims, data->elementType));
  return success();
}

OpFoldResult PixelShuffleOp::fold(FoldAdaptor) {
  if (getUpscaleFactor() == 1 && getData().getType() == getType())
    return forward(getData(), *this);
  return {};
}
