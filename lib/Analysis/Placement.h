//===- Placement.h - which tensors are on the host --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph function runs on the device that its module is compiled for, or on
// the host (`relax.device`, Notes.h). Its ops take and give tensors where it
// runs; those of the other side come from copies, parameters and calls, and are
// only passed on:
//
//   relax.func @main(%x)                      %x    device
//     %0 = relax.exp %x                       %0    device
//     %1 = relax.to_device %0 to "host"       %1    host
//     %2 = relax.call @on_the_host(%1)        %2    host
//     %3 = relax.exp %2                       error
//
// Where tensors are follows from the signatures of functions and the order of
// the ops alone, so a function is looked at once.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ANALYSIS_PLACEMENT_H
#define RELAX_ANALYSIS_PLACEMENT_H

#include "Relax/Ops/Function.h"
#include "Relax/Ops/Memory.h"
#include "Relax/RuntimeLibraries.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::relax {

/// Whether a graph function runs on the host.
bool runsOnHost(FuncOp function);
/// Whether a parameter or a result is on the host.
bool isParameterOnHost(FuncOp function, unsigned index);
bool isResultOnHost(FuncOp function, unsigned index);

bool isStorageOnHost(AllocStorageOp op);

/// What a call of a function does, and what those do that it calls.
struct Sides {
  bool host = false, device = false;
};
Sides findSides(FuncOp function, SymbolTableCollection &tables);

class Placement {
public:
  /// Fails, with an error at the op, where tensors are not where they must be.
  static FailureOr<Placement> of(FuncOp function,
                                 SymbolTableCollection &tables);

  /// Of a tensor, a storage, or a tuple of tensors.
  bool isOnHost(Value value) const { return onHost.contains(value); }

private:
  friend class PlacementBuilder;
  DenseSet<Value> onHost;
};

/// Fails, with errors, where a function of the module is not right.
LogicalResult checkPlaces(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_PLACEMENT_H
