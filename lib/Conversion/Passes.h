//===- Passes.h - graph functions to host code ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_PASSES_H
#define RELAX_CONVERSION_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::relax {

// The generated file undefines the macros that select its parts.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

} // namespace mlir::relax

#endif // RELAX_CONVERSION_PASSES_H
