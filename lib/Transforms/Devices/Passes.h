//===- Passes.h - the host and the device in one module ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_DEVICES_PASSES_H
#define RELAX_TRANSFORMS_DEVICES_PASSES_H

#include "Relax/RelaxDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::relax {

// The generated file undefines its selector macros.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Transforms/Devices/Passes.h.inc"

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_DEVICES_PASSES_H
