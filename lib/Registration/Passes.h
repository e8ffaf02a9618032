//===- Passes.h - registers all passes and pipelines ------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_REGISTRATION_PASSES_H
#define RELAX_REGISTRATION_PASSES_H

namespace mlir::relax {

/// Registers every pass and pipeline of the project by name. This is the only
/// file that knows all targets.
void registerRelaxPasses();

} // namespace mlir::relax

#endif // RELAX_REGISTRATION_PASSES_H
