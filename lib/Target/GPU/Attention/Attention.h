//===- Attention.h - nests that mix values by scores ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest of several contractions that share rows (RowBlocks.cpp), in this form:
//
//   x[batch, rows, j] = Σ_d query[batch, rows, d] key[batch, j, d]
//   s = f(x)                            element by element, with anything else
//   p = exp(s - max_j s)                Softmax.h
//   y[batch, rows, e] = Σ_j p[batch, rows, j] value[batch, j, e]
//   out = g(y, max_j s, Σ_j p)          element by element, with anything else
//
// in whatever order the dimensions are. Each of batch and rows may be several
// axes. Keys and values lie in memory; queries may be computed.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_ATTENTION_ATTENTION_H
#define RELAX_TARGET_GPU_ATTENTION_ATTENTION_H

#include "Target/Schedule/Softmax.h"

namespace mlir::relax {

/// A tensor in memory, as it is or a part of a larger one.
struct Stored {
  /// Operand `number` of a stage; none where it is not in memory without gaps.
  static std::optional<Stored> match(const Stage &stage, unsigned number);

  /// How many elements can be read at once along memory, at most 16 bytes;
  /// none where that depends on a size that is not known.
  std::optional<int64_t> width() const;
  Type elementType() const {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }
  /// The axis along memory.
  Axis along() const { return *axes.back(); }

  Value buffer;
  /// Of each dimension of the buffer: where the part begins, and the axis that
  /// runs along it, if one does.
  SmallVector<OpFoldResult> starts;
  SmallVector<std::optional<Axis>> axes;
};

struct Attention {
  /// What a nest computes in this form; none where it is anything else.
  static std::optional<Attention> match(const KernelGraph &graph,
                                        const Nest &nest);

  bool alongDepth() const { return key.along() == depth; }

  const Nest *nest = nullptr;
  /// The two contractions.
  const Stage *products = nullptr, *mixture = nullptr;
  Softmax softmax;
  linalg::GenericOp total;
  /// The stages that follow.
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
