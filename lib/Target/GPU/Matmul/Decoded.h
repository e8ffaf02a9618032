//===- Decoded.h - what the elements of a computed matrix are made of -----===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of quantised matrices are small numbers times something that some of
// them share: what is shared need not be in each term of a sum, and numbers of
// few bits are put together from them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_DECODED_H
#define RELAX_TARGET_GPU_MATMUL_DECODED_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// A vector of f32 as `(core - bias) * scale + offset`, of which all but the
/// core are scalars, null where there is none: they can be taken out of a sum.
struct Scaled {
  static Scaled takeApart(Value value);

  Value core, scale, offset;
  double bias = 0;
};

/// Whether all bytes of a vector are less than 128.
bool isSmall(Value bytes);

/// Bytes below 128 as f32, with 128 added: that is what they are in the upper
/// bits of its mantissa.
Value addedTo128(OpBuilder &builder, Location loc, Value bytes);

/// `value` by fewer ops, where it is made of bytes below 128 as quantised
/// numbers are; the same number.
Value withFewerOps(OpBuilder &builder, Location loc, Value value);

/// The numbers of `parts`, less the bias, as elements of type bf16 or f16, if
/// these have all of them; null otherwise.
Value exactNumbers(OpBuilder &builder, Location loc, const Scaled &parts,
                   Type element);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_DECODED_H
