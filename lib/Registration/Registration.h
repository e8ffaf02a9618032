//===- Registration.h - dialects and passes of the tools --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_REGISTRATION_REGISTRATION_H
#define RELAX_REGISTRATION_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::relax {

/// Registers all MLIR dialects with their extensions, and the relax dialect.
void registerDialects(DialectRegistry &registry);

/// Registers all passes and pipelines of MLIR and of this project.
void registerPasses();

} // namespace mlir::relax

#endif // RELAX_REGISTRATION_REGISTRATION_H
