//===- Unwrap.h - arguments of the C interface ---------------- -*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CAPI_UNWRAP_H
#define RELAX_CAPI_UNWRAP_H

#include "CAPI/Relax.h"
#include "Relax/RelaxAttrs.h"
#include "Relax/RelaxDialect.h"
#include "Relax/Symbolic/Prover.h"
#include "Relax/Symbolic/SymBuilder.h"
#include "Relax/Symbolic/Unifier.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::relax {

inline SymExprAttr unwrapExpr(MlirAttribute attr) {
  return llvm::cast_if_present<SymExprAttr>(unwrap(attr));
}

inline SmallVector<SymExprAttr> unwrapExprs(intptr_t count,
                                            MlirAttribute const *attrs) {
  return llvm::map_to_vector(ArrayRef(attrs, count), unwrapExpr);
}

/// Emits at an unknown location, since callers of the C API have none.
inline auto errorsOf(MLIRContext *context) {
  return [context] { return emitError(UnknownLoc::get(context)); };
}

inline SymbolFacts unwrapFacts(MlirAttribute ranges) {
  return SymbolFacts(llvm::cast_if_present<DictionaryAttr>(unwrap(ranges)));
}

inline MlirRelaxTruth wrapTruth(Truth truth) {
  return static_cast<MlirRelaxTruth>(truth);
}

} // namespace mlir::relax

#endif // RELAX_CAPI_UNWRAP_H
