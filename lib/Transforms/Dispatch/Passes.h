//===- Passes.h - library dispatch ------------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_DISPATCH_PASSES_H
#define RELAX_TRANSFORMS_DISPATCH_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::relax {

// The generated file undefines its selector macros.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Transforms/Dispatch/Passes.h.inc"

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_DISPATCH_PASSES_H
