//===- RelaxOps.h - operations of the relax dialect ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXOPS_H
#define RELAX_RELAXOPS_H

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

/// Symbols of the enclosing function, as something that ops read and write.
struct SymbolResource : public SideEffects::Resource::Base<SymbolResource> {
  StringRef getName() final { return "<RelaxSymbol>"; }
};

} // namespace mlir::relax

#define GET_OP_CLASSES
#include "Relax/Ops/Function.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Call.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Core.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Control.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Memory.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Create.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Linear.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Reduction.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Normalization.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Attention.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Convolution.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Pooling.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Image.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Quantization.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Manipulate.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Slice.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Index.h.inc"
#define GET_OP_CLASSES
#include "Relax/Ops/Sort.h.inc"

#endif // RELAX_RELAXOPS_H
