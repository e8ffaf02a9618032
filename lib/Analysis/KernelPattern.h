//===- KernelPattern.h - what kind of loops a kernel has --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithm 1 of the Relax paper: what may be fused with a kernel follows from
// its loops, never from its name. For a nest without reductions, each read is
// compared with the write, which is at W:
//
//   element-wise   reads at W               y[i, j] = exp(x[i, j])
//   broadcast      at some of W, in order   y[i, j] = b[j]
//   injective      anywhere, of W           y[i, j] = x[j, i], table[x[i], j]
//
// With an element-wise read, broadcast reads beside it change nothing. A nest
// with reductions is a sum of products (`out_ewise_fusible`: contractions and
// convolutions) or another reduction. The kinds of several nests in one kernel
// are combined as fusion would combine kernels of these kinds; where it would
// not, and for whatever is no such nest, the kernel is opaque.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_KERNELPATTERN_H
#define RELAX_ANALYSIS_KERNELPATTERN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::relax {

/// From what fuses most to what fuses least.
enum class KernelPattern {
  ElementWise,
  Broadcast,
  Injective,
  Reduction,
  OutEwiseFusible,
  Opaque,
};

StringRef stringifyKernelPattern(KernelPattern pattern);

/// The kind of a kernel; one without a body is opaque.
KernelPattern classifyKernel(func::FuncOp kernel);

/// How the kernel reads its parameter `input`: element-wise and injective reads
/// read each element once, broadcast ones (all reads with reuse, those of
/// contractions too) several times. What is read by anything but a loop nest is
/// opaque; what is not read is element-wise.
KernelPattern classifyRead(func::FuncOp kernel, unsigned input);

/// Whether two inputs of a reduction each miss a loop that its result has.
bool isContraction(linalg::LinalgOp op);

/// Whether an element costs less to compute again than to load: additions,
/// multiplications, conversions and the like.
bool isCheap(func::FuncOp kernel);

/// Whether the kernel is one loop nest that reads the parameter `input` only at
/// the element that it writes of the parameter `destination`, so that both may
/// be the same memory.
bool canReuseInput(func::FuncOp kernel, unsigned input, unsigned destination);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_KERNELPATTERN_H
