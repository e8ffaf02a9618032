//===- Groups.h - which kernel calls become one kernel ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithm 2 of the Relax paper on the calls of one block. A call P and its
// immediate post-dominator D, through which everything computed from P goes,
// make one group with all calls between them:
//
//        P            every path from P leads to D, so that no result of the
//       / \           group but that of D is used outside, and the group can
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

/// The kernel's symbols at a call; none where what the kernel demands of the
/// shapes is not all proved. What is not is checked when the call runs, which
/// is lost with the call.
std::optional<SymSubstitution> solveProvedCall(CallTIROp call,
                                               func::FuncOp kernel);

/// What fusion asks of kernels, remembered for a module.
class KernelFacts {
public:
  explicit KernelFacts(SymbolTable &table)
      : table(table), writes(cast<ModuleOp>(table.getOp())) {}

  /// Null where the call cannot be in a group: its kernel is opaque or unknown,
  /// the shape of an operand is, or something is left to check when it runs.
  func::FuncOp getFusibleKernel(CallTIROp call);
  KernelPattern getPattern(func::FuncOp kernel);
  /// Whether `op` may write over a tensor, so that nothing moves across it.
  bool mayWrite(Operation *op) const { return writes.mayWrite(op); }

private:
  SymbolTable &table;
  Writes writes;
  DenseMap<Operation *, KernelPattern> patterns;
};

/// The groups of two and more calls in `block`, each in program order; the last
/// call of a group is the one whose results are used outside. A group holds one
/// contraction or reduction; with `shareOperands` several contractions of one
/// operand, if what they compute meets element by element.
SmallVector<SmallVector<CallTIROp>> findGroups(Block &block, KernelFacts &facts,
                                               unsigned maxGroupSize,
                                               bool shareOperands);

/// The groups of contractions in `block` that have an operand in common and do
/// not depend on each other, each in program order: all of them can run where
/// the first does.
SmallVector<SmallVector<CallTIROp>> findSiblings(Block &block,
                                                 KernelFacts &facts);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_FUSION_GROUPS_H
