//===- Passes.h - passes of relax-mlir --------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_PASSES_H
#define RELAX_TRANSFORMS_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::relax {

// The generated files undefine their selector macros.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Transforms/Shapes/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Transforms/Simplify/Passes.h.inc"

/// The pipeline `relax-simplify`: all passes that make a program smaller or its
/// types finer, but none that decide how it is executed.
void buildSimplifyPipeline(OpPassManager &manager);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_PASSES_H
