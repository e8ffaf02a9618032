//===- Versions.h - function versioning -------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_DISPATCH_VERSIONS_H
#define RELAX_TRANSFORMS_DISPATCH_VERSIONS_H

#include "Relax/Ops/Function.h"
#include "Relax/RelaxAttrs.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {

/// Replaces the body of a function by calls of two copies of it: the copy that
/// is returned if `value` is at least `least`, otherwise the other copy.
/// Parameters define the symbols of `value`.
///
///   relax.func @f(%x) {                   relax.func @f(%x) {
///     …                                     if n >= 64 call @f_many(%x)
///   }                            ──▶        else       call @f_few(%x)
///                                         }
FuncOp makeVersions(FuncOp function, SymExprAttr value, int64_t least,
                    SymbolTable &table);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_DISPATCH_VERSIONS_H
