//===- Groups.h - fusion groups of kernel calls -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithm 2 of the Relax paper, applied to the calls of one block. A call P
// and its immediate post-dominator D, which everything computed from P flows
// into, form one group with all calls between them:
//
//        P            every path from P leads to D, so that only the result
//       / \           of D is used outside of the group, and the group can
//      a   b          run where D was
//       \ /
//        D
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_GROUPS_H
#define RELAX_TRANSFORMS_FUSION_GROUPS_H

#include "Analysis/KernelPattern.h"
#include "Relax/Ops/Call.h"
#include "Relax/ShapeUtils.h"
#include "Relax/Symbolic/SymBuilder.h"
#include "Transforms/Memory/Writes.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {

/// Solves for the kernel's symbols at a call. Returns none unless every
/// condition of the kernel on shapes is proved: the others are checked when the
/// call runs, and these checks would be lost with the call.
std::optional<SymSubstitution> solveProvedCall(CallTIROp call,
                                               func::FuncOp kernel);

/// Whether a user chose what the kernel computes, so that it joins no group.
bool isFinal(func::FuncOp kernel);

/// Cached facts about the kernels of a module that fusion needs.
class KernelFacts {
public:
  explicit KernelFacts(SymbolTable &table)
      : table(table), writes(cast<ModuleOp>(table.getOp())) {}

  /// Returns null if the call cannot join a group: its kernel is opaque or
  /// unknown, the shape of an operand is unknown, or a check must be made at
  /// run time.
  func::FuncOp getFusibleKernel(CallTIROp call);
  KernelPattern getPattern(func::FuncOp kernel);
  /// Whether `op` may write to a tensor, so that nothing may move across it.
  bool mayWrite(Operation *op) const { return writes.mayWrite(op); }

private:
  SymbolTable &table;
  Writes writes;
  DenseMap<Operation *, KernelPattern> patterns;
};

/// Returns the groups of two or more calls in `block`, each in program order;
/// only the results of a group's last call are used outside. A group holds at
/// most one contraction or reduction; with `shareOperands`, several
/// contractions of one operand if their results meet element by element.
SmallVector<SmallVector<CallTIROp>> findGroups(Block &block, KernelFacts &facts,
                                               unsigned maxGroupSize,
                                               bool shareOperands);

/// Returns the groups of contractions in `block` that share an operand and do
/// not depend on each other, each in program order: all can run at the first
/// one.
SmallVector<SmallVector<CallTIROp>> findSiblings(Block &block,
                                                 KernelFacts &facts);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_GROUPS_H
