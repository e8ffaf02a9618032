//===- Attention.h - recognizes attention -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest of several contractions that share rows (RowBlocks.cpp), of this form:
//
//   x[batch, rows, j] = Σ_d query[batch, rows, d] key[batch, j, d]
//   s = f(x)                            element-wise, with any other operands
//   p = exp(s - max_j s)                Softmax.h
//   y[batch, rows, e] = Σ_j p[batch, rows, j] value[batch, j, e]
//   out = g(y, max_j s, Σ_j p)          element-wise, with any other operands
//
// with dimensions in any order. Batch and rows may each consist of several
// axes. Keys and values are in memory; queries may be computed on the fly.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_ATTENTION_ATTENTION_H
#define RELAX_TARGET_GPU_ATTENTION_ATTENTION_H

#include "Target/Schedule/Softmax.h"

namespace mlir::relax {

/// A tensor in memory, or a slice of one.
struct Stored {
  /// Matches operand `number` of a stage; none if it is not contiguous in
  /// memory.
  static std::optional<Stored> match(const Stage &stage, unsigned number);

  /// The number of contiguous elements that one access can read, at most 16
  /// bytes; none if it depends on a dynamic size.
  std::optional<int64_t> width() const;
  Type elementType() const {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }
  /// The contiguous axis.
  Axis along() const { return *axes.back(); }

  Value buffer;
  /// For each dimension of the buffer, the start of the slice and the axis that
  /// runs along the dimension, if any.
  SmallVector<OpFoldResult> starts;
  SmallVector<std::optional<Axis>> axes;
};

struct Attention {
  /// Matches a nest; none if it is not of this form.
  static std::optional<Attention> match(const KernelGraph &graph,
                                        const Nest &nest);

  bool alongDepth() const { return key.along() == depth; }

  const Nest *nest = nullptr;
  /// The two contractions: query by key, and weights by value.
  const Stage *products = nullptr, *mixture = nullptr;
  Softmax softmax;
  linalg::GenericOp total;
  /// The stages after the contractions.
  SmallVector<const Stage *> ends;
  SmallVector<Axis> batch;
  Axis columns = 0, depth = 0, inner = 0;
  /// The operand of `products` that is the query.
  unsigned query = 0;
  Stored key, value;
  /// Static sizes of `depth` and `inner`.
  int64_t depthSize = 0, innerSize = 0;
  std::optional<HiddenColumns> hidden;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_ATTENTION_ATTENTION_H
