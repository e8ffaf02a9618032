//===- KernelPattern.h - classification of kernels by loops -----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithm 1 of the Relax paper: the loops of a kernel, never its name, decide
// what it can be fused with. For a nest without reductions, each read is
// compared with the write, which is at index W:
//
//   element-wise   reads at W               y[i, j] = exp(x[i, j])
//   broadcast      at a subsequence of W    y[i, j] = b[j]
//   injective      at any function of W     y[i, j] = x[j, i], table[x[i], j]
//
// Additional broadcast reads do not change the kind of a nest that has an
// element-wise read. A nest with reductions is either a sum of products
// (`out_ewise_fusible`: contractions and convolutions) or another reduction. A
// kernel with several nests gets the kind that the fusion of separate kernels
// of these kinds would have. If they would not be fused, or if the kernel
// contains anything else, it is opaque.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_KERNELPATTERN_H
#define RELAX_ANALYSIS_KERNELPATTERN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::relax {

/// From most to least fusible.
enum class KernelPattern {
  ElementWise,
  Broadcast,
  Injective,
  Reduction,
  OutEwiseFusible,
  Opaque,
};

StringRef stringifyKernelPattern(KernelPattern pattern);

/// Classifies a kernel; one without a body is opaque.
KernelPattern classifyKernel(func::FuncOp kernel);

/// Classifies how the kernel reads its parameter `input`. Element-wise and
/// injective reads visit each element once; broadcast reads (all reads with
/// reuse, including reads by contractions) visit it several times. A parameter
/// that is read by anything but a loop nest is opaque; an unread parameter is
/// element-wise.
KernelPattern classifyRead(func::FuncOp kernel, unsigned input);

/// The source of casts between static and dynamic sizes.
Value lookThroughCasts(Value value);

/// Whether two inputs of a reduction each lack a loop that its result has.
bool isContraction(linalg::LinalgOp op);

/// Whether recomputing an element is cheaper than loading it: additions,
/// multiplications, conversions and the like.
bool isCheap(func::FuncOp kernel);

/// Whether the kernel is one loop nest that reads parameter `input` only at the
/// element of parameter `destination` that it writes, so that both can share
/// memory.
bool canReuseInput(func::FuncOp kernel, unsigned input, unsigned destination);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_KERNELPATTERN_H
