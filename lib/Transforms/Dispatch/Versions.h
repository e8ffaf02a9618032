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

/// Makes a function one that calls one of two copies of what it was: the one
/// that is returned where `value` is at least `least`, else the other. The
/// symbols of `value` are those of parameters.
///
///   relax.func @f(%x) {                   relax.func @f(%x) {
///     …                                     if n >= 64 call @f_many(%x)
///   }                            ──▶        else       call @f_few(%x)
///                                         }
FuncOp makeVersions(FuncOp function, SymExprAttr value, int64_t least,
                    SymbolTable &table);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_DISPATCH_VERSIONS_H
