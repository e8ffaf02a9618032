//===- Registration.h - what the tools know ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_REGISTRATION_REGISTRATION_H
#define RELAX_REGISTRATION_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::relax {

/// Every dialect of MLIR with its extensions, and relax.
void registerDialects(DialectRegistry &registry);

/// Every pass and pipeline of MLIR and of relax.
void registerPasses();

} // namespace mlir::relax

#endif // RELAX_REGISTRATION_REGISTRATION_H
