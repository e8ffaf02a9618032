//===- Convolution.cpp - kernels of convolutions --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both kinds of convolution become one contraction:
//
//   result[n, (g, o), y...] +=
//       padded[n, (g, i), stride * y + dilation * k ...] *
//       weight[(g), o, i, k...]
//
// where the groups of channels are a separate dimension. A transposed
// convolution is a convolution of stride 1 over data whose elements are spread
// `stride` apart, with the weight flipped in space.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Convolution.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/SlidingWindows.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Reassociation indices that pair dimension `split` with the next one.
static SmallVector<ReassociationIndices> pairAt(int64_t split, int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0, next = 0; dim < rank; ++dim) {
    groups.push_back({next++});
    if (dim == split)
      groups.back().push_back(next++);
  }
  return groups;
}

/// Splits a dimension into `groups` and the remaining size `rest`.
static Value splitDim(KernelBuilder &kernel, Value tensor, int64_t position,
                      int64_t groups, SymExprAttr rest) {
  Scalars &s = kernel.builder();
  SymDims dims(kernel.dims(tensor));
  // Reshapes require static dimensions to match on both sides.
  if (dims[position].isConstant())
    rest = kernel.constant(dims[position].getValue() / groups);
  else if (rest.isConstant())
    dims[position] = kernel.constant(rest.getValue() * groups);
  auto typeOf = [&](ArrayRef<SymExprAttr> dims) {
    SmallVector<int64_t> shape;
    for (SymExprAttr dim : dims)
      shape.push_back(dim.getConstantValue().value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, getElementType(tensor));
  };
  if (typeOf(dims) != tensor.getType())
    tensor = tensor::CastOp::create(s, typeOf(dims), tensor);
  auto reassociation = pairAt(position, dims.size());
  dims[position] = rest;
  dims.insert(dims.begin() + position, kernel.constant(groups));
  SmallVector<OpFoldResult> shape;
  for (SymExprAttr dim : dims)
    if (auto value = dim.getConstantValue())
      shape.push_back(s.getIndexAttr(*value));
    else
      shape.push_back(kernel.size(dim));
  return kernel.withDims(tensor::ExpandShapeOp::create(s, typeOf(dims), tensor,
                                                       reassociation, shape),
                         dims);
}

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

namespace {

/// The contraction of both kinds of convolution, for prepared data and weight.
struct Contraction {
  KernelBuilder &kernel;
  Layout dataLayout, weightLayout, outLayout; // weight: O, I, axes
  SmallVector<Window, 3> windows;
  int64_t groups;
  /// The weight channels that groups split: O, or I if transposed.
  int64_t grouped;
  Type dataElement, outElement; // graph types

  Value run(Value data, Value weight, SymExprAttr inputChannels,
            SymExprAttr outputChannels);
};

} // namespace

/// The number of channels is per group.
Value Contraction::run(Value data, Value weight, SymExprAttr inputChannels,
                       SymExprAttr outputChannels) {
  Scalars &s = kernel.builder();
  MLIRContext *context = s.getContext();
  int64_t rank = dataLayout.size(), spatial = rank - 2;
  Value destination = kernel.destination();
  Value sum = kernel.accumulator(destination);
  sum = kernel.fill(sum, s.number(getElementType(sum), 0));
  SymDims sumDims(kernel.dims(sum));
  Type sumType = sum.getType();
  bool hasGroups = groups != 1;
  if (hasGroups) {
    data = splitDim(kernel, data, dataLayout[1], groups, inputChannels);
    weight = splitDim(kernel, weight, weightLayout[grouped], groups,
                      grouped == 0 ? outputChannels : inputChannels);
    sum = splitDim(kernel, sum, outLayout[1], groups, outputChannels);
  }

  // The loops: the result dimensions in layout order, then the reductions.
  AffineExpr group, batch, out, in;
  SmallVector<AffineExpr> positions(spatial), taps(spatial);
  unsigned count = 0;
  auto next = [&] { return getAffineDimExpr(count++, context); };
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t letter = llvm::find(outLayout, dim) - outLayout.begin();
    if (letter == 1 && hasGroups)
      group = next();
    AffineExpr loop = next();
    (letter == 0 ? batch : letter == 1 ? out : positions[letter - 2]) = loop;
  }
  bool channelsLast = dataLayout[1] == rank - 1;
  if (!channelsLast)
    in = next();
  for (AffineExpr &tap : taps)
    tap = next();
  if (channelsLast)
    in = next();

  // Orders the dimensions of an operand by its layout.
  auto arrange = [&](const Layout &layout, SmallVector<AffineExpr> letters,
                     int64_t split) {
    SmallVector<AffineExpr> dims(rank);
    for (auto [letter, expr] : llvm::enumerate(letters))
      dims[layout[letter]] = expr;
    if (hasGroups)
      dims.insert(dims.begin() + layout[split], group);
    return AffineMap::get(count, 0, dims, context);
  };
  SmallVector<AffineExpr> read = {batch, in}, kernelRead = {out, in},
                          written = {batch, out};
  for (auto [window, position, tap] : llvm::zip(windows, positions, taps)) {
    read.push_back(position * window.stride + tap * window.dilation);
    kernelRead.push_back(tap);
    written.push_back(position);
  }
  AffineMap maps[] = {arrange(dataLayout, read, 1),
                      arrange(weightLayout, kernelRead, grouped),
                      arrange(outLayout, written, 1)};
  Type wide = isa<FloatType>(outElement) ? getElementType(sum) : outElement;
  sum = affineNest(
      kernel, {data, weight}, sum, maps, [&](Scalars &s, ValueRange x) {
        return s.add(x[2], s.mul(s.convert(x[0], dataElement, wide),
                                 s.convert(x[1], dataElement, wide)));
      });
  if (hasGroups)
    sum = kernel.withDims(tensor::CollapseShapeOp::create(
                              s, sumType, sum, pairAt(outLayout[1], rank)),
                          sumDims);
  return kernel.store(sum, destination);
}

template <typename OpT>
static Contraction contractionOf(OpT op, KernelBuilder &kernel, int64_t spatial,
                                 int64_t grouped) {
  std::string axes = getSpatialLetters(spatial).str();
  Layout weightLayout = layoutOf(op, op.getKernelLayout(), "OI" + axes);
  Contraction result{
      kernel,
      layoutOf(op, op.getDataLayout(), "NC" + axes),
      weightLayout,
      layoutOf(op, op.getOutLayout().value_or(op.getDataLayout()), "NC" + axes),
      windowsOf(op, op.getStrides(), op.getPadding(), op.getDilation(),
                spatial),
      int64_t(op.getGroups()),
      grouped,
      getElementType(op.getData()),
      getElementType(op.getResult())};
  ArrayRef<SymExprAttr> weight = kernel.dims(kernel.input(op.getWeight()));
  for (auto [index, window] : llvm::enumerate(result.windows)) {
    window.kernel = weight[weightLayout[2 + index]];
    kernel.require(CmpIPredicate::sle, kernel.constant(1), window.kernel,
                   "the kernel is empty along '" + axes.substr(index, 1) + "'");
  }
  return result;
}

static void requireGroups(KernelBuilder &kernel, SymExprAttr channels,
                          int64_t groups, const Twine &name) {
  kernel.requireEqual(kernel.math().mod(channels, kernel.constant(groups)),
                      kernel.constant(0),
                      "groups must divide " + name + ": " + channels.str() +
                          " is not a multiple of " + Twine(groups));
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult convolve(OpT op, KernelBuilder &kernel, int64_t spatial) {
  Contraction contraction = contractionOf(op, kernel, spatial, /*grouped=*/0);
  SymBuilder &math = kernel.math();
  Scalars &s = kernel.builder();
  Value data = kernel.input(op.getData()),
        weight = kernel.input(op.getWeight());
  Value destination = kernel.destination();
  SymDims dataDims = toCanonical(kernel.dims(data), contraction.dataLayout);
  SymDims weightDims =
      toCanonical(kernel.dims(weight), contraction.weightLayout);
  SymDims counts = toCanonical(kernel.dims(destination), contraction.outLayout);
  SymExprAttr groups = kernel.constant(contraction.groups);

  kernel.requireEqual(dataDims[1], math.mul(weightDims[1], groups),
                      "channels of data must be groups times input channels "
                      "of weight: " +
                          dataDims[1].str() + " and " + groups.str() + " * " +
                          weightDims[1].str());
  requireGroups(kernel, weightDims[0], contraction.groups,
                "the output channels of weight");
  for (int64_t axis = 0; axis < spatial; ++axis)
    kernel.require(CmpIPredicate::sle, kernel.constant(1), counts[2 + axis],
                   "the window does not fit along '" +
                       getSpatialLetters(spatial).substr(axis, 1) + "'");
  if (hasNoElement(kernel.dims(destination)))
    return kernel.yield(
        kernel.fill(destination, s.number(getElementType(destination), 0)));
  Value padded = padForWindows(
      kernel, data, contraction.dataLayout, contraction.windows,
      ArrayRef(counts).drop_front(2), s.number(getElementType(data), 0));
  return kernel.yield(contraction.run(padded, weight, weightDims[1],
                                      math.floordiv(weightDims[0], groups)));
}

//===----------------------------------------------------------------------===//
// Transposed convolution
//===----------------------------------------------------------------------===//

/// The weight, flipped along its spatial axes.
static Value flip(const Contraction &contraction, Value weight) {
  KernelBuilder &kernel = contraction.kernel;
  if (llvm::all_of(contraction.windows, [](const Window &window) {
        return window.kernel.isConstant(1);
      }))
    return weight;
  Value flipped =
      kernel.empty(SymDims(kernel.dims(weight)), getElementType(weight));
  return kernel.generate(flipped, [&](Scalars &s, ValueRange position) {
    SmallVector<Value> source(position);
    for (auto [index, window] : llvm::enumerate(contraction.windows)) {
      Value &at = source[contraction.weightLayout[2 + index]];
      at = s.sub(s.sub(kernel.size(window.kernel), s.index(1)), at);
    }
    return tensor::ExtractOp::create(s, weight, source).getResult();
  });
}

/// The data over which the flipped weight slides: elements a stride apart, with
/// room for the kernel before and after, less the cropped padding.
static Value dilate(const Contraction &contraction, Value data,
                    ArrayRef<SymExprAttr> counts) {
  KernelBuilder &kernel = contraction.kernel;
  SymBuilder &math = kernel.math();
  Scalars &s = kernel.builder();
  SymExprAttr zero = kernel.constant(0);
  SymDims dims(kernel.dims(data)), offsets(dims.size(), zero),
      starts(dims.size(), zero);
  SmallVector<int64_t> strides(dims.size(), 1);
  bool crops = false;
  for (auto [index, window] : llvm::enumerate(contraction.windows)) {
    int64_t dim = contraction.dataLayout[2 + index];
    SymExprAttr extent = math.max(
        {math.linear({dims[dim]}, {window.stride}, 1 - window.stride), zero});
    // The position of the first element, which may be negative.
    SymExprAttr first = math.linear({window.kernel}, {window.dilation},
                                    -window.dilation - window.before);
    strides[dim] = window.stride;
    offsets[dim] = math.max({first, zero});
    starts[dim] = math.max({math.neg(first), zero});
    crops |= !kernel.provedEqual(starts[dim], zero);
    Window step{window.kernel, 1, window.dilation};
    dims[dim] = math.max(
        {math.add(offsets[dim], extent),
         math.add(starts[dim], readExtent(kernel, counts[index], step))});
  }
  Value placed = spread(kernel, data, dims, offsets, strides,
                        s.number(getElementType(data), 0));
  if (!crops || hasNoElement(kernel.dims(placed)))
    return placed;
  SmallVector<OpFoldResult> from, steps(dims.size(), s.getIndexAttr(1));
  auto fold = [&](SymExprAttr expr) -> OpFoldResult {
    if (auto value = expr.getConstantValue())
      return s.getIndexAttr(*value);
    return kernel.size(expr);
  };
  for (auto [start, dim] : llvm::zip(starts, dims)) {
    dim = math.sub(dim, start);
    from.push_back(fold(start));
  }
  return extractSlice(kernel, placed, from, dims, steps);
}

template <typename OpT>
static LogicalResult convolveTransposed(OpT op, KernelBuilder &kernel,
                                        int64_t spatial) {
  Contraction contraction = contractionOf(op, kernel, spatial, /*grouped=*/1);
  Scalars &s = kernel.builder();
  Value data = kernel.input(op.getData()),
        weight = kernel.input(op.getWeight());
  Value destination = kernel.destination();
  SymDims dataDims = toCanonical(kernel.dims(data), contraction.dataLayout);
  SymDims weightDims =
      toCanonical(kernel.dims(weight), contraction.weightLayout);
  SymDims extents =
      toCanonical(kernel.dims(destination), contraction.outLayout);

  kernel.requireEqual(dataDims[1], weightDims[1],
                      "channels of data must be input channels of weight: " +
                          dataDims[1].str() + " and " + weightDims[1].str());
  requireGroups(kernel, dataDims[1], contraction.groups,
                "the channels of data");
  for (int64_t axis = 0; axis < spatial; ++axis)
    kernel.require(CmpIPredicate::sle, kernel.constant(0), extents[2 + axis],
                   "padding removes more than there is along '" +
                       getSpatialLetters(spatial).substr(axis, 1) + "'");
  if (hasNoElement(kernel.dims(destination)))
    return kernel.yield(
        kernel.fill(destination, s.number(getElementType(destination), 0)));
  Value dilated = dilate(contraction, data, ArrayRef(extents).drop_front(2));
  Value flipped = flip(contraction, weight);
  for (Window &window : contraction.windows)
    window.stride = 1;
  SymExprAttr groups = kernel.constant(contraction.groups);
  return kernel.yield(contraction.run(
      dilated, flipped, kernel.math().floordiv(dataDims[1], groups),
      weightDims[0]));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void relax::populateConvolutionKernels(KernelRegistry &registry) {
  registry.add<Conv1DOp>(
      [](auto op, auto &kernel) { return convolve(op, kernel, 1); });
  registry.add<Conv2DOp>(
      [](auto op, auto &kernel) { return convolve(op, kernel, 2); });
  registry.add<Conv3DOp>(
      [](auto op, auto &kernel) { return convolve(op, kernel, 3); });
  registry.add<Conv1DTransposeOp>(
      [](auto op, auto &kernel) { return convolveTransposed(op, kernel, 1); });
  registry.add<Conv2DTransposeOp>(
      [](auto op, auto &kernel) { return convolveTransposed(op, kernel, 2); });
  registry.add<Conv3DTransposeOp>(
      [](auto op, auto &kernel) { return convolveTransposed(op, kernel, 3); });
}
