//===- Decoded.h - decodes quantized elements -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of quantized matrices are small numbers with a scale and offset that
// several of them share. Shared factors can be taken out of a sum, and small
// numbers can be converted by bit operations.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_MATMUL_DECODED_H
#define RELAX_TARGET_GPU_MATMUL_DECODED_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// A vector of f32 as `(core - bias) * scale + offset`. All but the core are
/// scalars (null if absent) and can be taken out of a sum.
struct Scaled {
  static Scaled takeApart(Value value);

  Value core, scale, offset;
  double bias = 0;
};

/// Whether all bytes of a vector are known to be less than 128.
bool isSmall(Value bytes);

/// Converts bytes below 128 to f32 and adds 128, by inserting the byte into the
/// upper bits of the mantissa.
Value addedTo128(OpBuilder &builder, Location loc, Value bytes);

/// The same value computed with fewer ops if it is a dequantized vector of
/// bytes below 128; otherwise `value`.
Value withFewerOps(OpBuilder &builder, Location loc, Value value);

/// The numbers of `parts` minus the bias, converted to bf16 or f16 (`element`);
/// null if they cannot all be represented.
Value exactNumbers(OpBuilder &builder, Location loc, const Scaled &parts,
                   Type element);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_MATMUL_DECODED_H
