//===- Passes.h - kernel patterns and fusion --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_PASSES_H
#define RELAX_TRANSFORMS_FUSION_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::relax {

// The generated file undefines its selector macros.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Transforms/Fusion/Passes.h.inc"

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_PASSES_H
