//===- SlidingWindows.cpp - loops of pooling and convolution --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/SlidingWindows.h"

#include "Transforms/Legalize/Movement.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Layout relax::layoutOf(Operation *op, StringRef text, StringRef canonical) {
  Deduction deduction(op->getContext(), op->getLoc(),
                      op->getName().getStringRef(), op->getOperands());
  return *readLayout(deduction, "layout", text, canonical);
}

SmallVector<Window, 3> relax::windowsOf(Operation *op,
                                        ArrayRef<int64_t> strides,
                                        ArrayRef<int64_t> padding,
                                        ArrayRef<int64_t> dilation,
                                        int64_t spatial) {
  Deduction deduction(op->getContext(), op->getLoc(),
                      op->getName().getStringRef(), op->getOperands());
  SmallVector<Window, 3> windows(spatial);
  [[maybe_unused]] LogicalResult valid =
      readPadding(deduction, padding, windows);
  assert(succeeded(valid) && "the op is verified");
  for (auto [index, window] : llvm::enumerate(windows)) {
    window.stride = strides.size() == 1 ? strides[0] : strides[index];
    window.dilation = dilation.size() == 1 ? dilation[0] : dilation[index];
  }
  return windows;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

SymExprAttr relax::readExtent(KernelBuilder &kernel, SymExprAttr count,
                              const Window &window) {
  return kernel.math().linear({count, window.kernel},
                              {window.stride, window.dilation},
                              1 - window.stride - window.dilation);
}

Value relax::spread(KernelBuilder &kernel, Value data,
                    ArrayRef<SymExprAttr> dims, ArrayRef<SymExprAttr> offsets,
                    ArrayRef<int64_t> strides, Value number) {
  ScalarBuilder &s = kernel.builder();
  Value filled = kernel.fill(kernel.empty(dims, number.getType()), number);
  auto fold = [&](SymExprAttr expr) -> OpFoldResult {
    if (auto value = expr.getConstantValue())
      return s.getIndexAttr(*value);
    return kernel.size(expr);
  };
  SmallVector<OpFoldResult> first, sizes, steps;
  for (auto [offset, dim, stride] :
       llvm::zip(offsets, SymDims(kernel.dims(data)), strides)) {
    first.push_back(fold(offset));
    sizes.push_back(fold(dim));
    steps.push_back(s.getIndexAttr(stride));
  }
  return insertSlice(kernel, data, filled, first, sizes, steps);
}

Value relax::padForWindows(KernelBuilder &kernel, Value data,
                           const Layout &layout, ArrayRef<Window> windows,
                           ArrayRef<SymExprAttr> counts, Value number) {
  SymBuilder &math = kernel.math();
  SymDims dims(kernel.dims(data)), offsets(dims.size(), kernel.constant(0));
  bool fits = true;
  for (auto [index, window] : llvm::enumerate(windows)) {
    SymExprAttr &dim = dims[layout[2 + index]];
    SymExprAttr before = kernel.constant(window.before);
    SymExprAttr end = math.add(dim, before);
    SymExprAttr needed = readExtent(kernel, counts[index], window);
    bool reaches = kernel.prover().lessEqual(needed, end) == Truth::Yes;
    if (reaches && window.before == 0)
      continue;
    dim = reaches ? end
          : kernel.prover().lessEqual(end, needed) == Truth::Yes
              ? needed
              : math.max({end, needed});
    offsets[layout[2 + index]] = before;
    fits = false;
  }
  if (fits)
    return data;
  return spread(kernel, data, dims, offsets,
                SmallVector<int64_t>(dims.size(), 1), number);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value relax::affineNest(KernelBuilder &kernel, ArrayRef<Value> reads,
                        Value init, ArrayRef<AffineMap> maps,
                        KernelBuilder::Body body) {
  ScalarBuilder &s = kernel.builder();
  SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr position : maps.back().getResults())
    iterators[cast<AffineDimExpr>(position).getPosition()] =
        utils::IteratorType::parallel;
  auto generic = linalg::GenericOp::create(
      s, init.getType(), reads, init, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        ScalarBuilder scalars(loc, builder);
        linalg::YieldOp::create(scalars, body(scalars, elements));
      });
  return kernel.withDims(generic.getResult(0), SymDims(kernel.dims(init)));
}
