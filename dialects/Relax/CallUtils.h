//===- CallUtils.h - unification of signatures at calls ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CALLUTILS_H
#define RELAX_CALLUTILS_H

#include "Relax/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::relax {

/// The expression that an integer value is known to equal: the one of a
/// `relax.sym`, a known dimension, a constant, or a parameter marked
/// `relax.symbol`; null if unknown.
SymExprAttr getIntegerExpr(Value value);

/// Whether a kernel is in buffer form: its parameters are memrefs and integers,
/// and it returns nothing, since its destinations are among the memrefs.
bool isInBufferForm(FunctionOpInterface function);

/// The signature of a callee as seen by its callers.
struct Signature {
  SmallVector<Type> parameters;
  SmallVector<Type> results;
  /// The symbol that each integer parameter carries; null for other parameters.
  SmallVector<StringAttr> parameterSymbols;
  /// Declared ranges of the callee's symbols; may be null.
  DictionaryAttr ranges;

  /// Adds `relax.shape` to parameter and result types of kernels. The
  /// contiguous memrefs of a kernel in buffer form become tensors.
  static Signature of(FunctionOpInterface function);
  static Signature of(FunctionType type);
};

/// Unifies a signature with the operands of a call. Reports an error on `call`
/// if they contradict each other. The operands with the numbers in `first`
/// determine symbols before others do.
LogicalResult unifyCall(Operation *call, const Signature &signature,
                        ValueRange operands, Unifier &unifier,
                        ArrayRef<unsigned> first = {});

/// Unifies a signature with the operands of a call and deduces the result
/// types. Reports an error on `call` if they contradict each other.
FailureOr<SmallVector<Type>>
deduceCall(Operation *call, const Signature &signature, ValueRange operands);

/// Verifies that the result types of a call are the deduced ones, or coarser.
LogicalResult verifyCall(Operation *call, const Signature &signature,
                         ValueRange operands, TypeRange results);

/// Unifies a kernel with a call in destination-passing style: the parameters
/// are the operands, a destination for each of `destinations`, and the integers
/// `syms`. Reports an error on `call` if they contradict each other.
LogicalResult unifyKernelCall(Operation *call, const Signature &signature,
                              TypeRange operands, TypeRange destinations,
                              ArrayAttr syms, Unifier &unifier);

/// Verifies a call in destination-passing style.
LogicalResult verifyKernelCall(Operation *call, const Signature &signature,
                               TypeRange operands, TypeRange destinations,
                               ArrayAttr syms);

} // namespace mlir::relax

#endif // RELAX_CALLUTILS_H
