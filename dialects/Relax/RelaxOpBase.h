//===- RelaxOpBase.h - common includes of op families -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op family's .cpp file includes this and the family's own classes rather
// than RelaxOps.h: compiling the classes of all ops takes longer than any
// family.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXOPBASE_H
#define RELAX_RELAXOPBASE_H

#include "Relax/Deduction.h"
#include "Relax/RelaxDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::relax {

/// A resource that stands for the symbols of the enclosing function.
struct SymbolResource : public SideEffects::Resource::Base<SymbolResource> {
  StringRef getName() final { return "<RelaxSymbol>"; }
};

} // namespace mlir::relax

#endif // RELAX_RELAXOPBASE_H
