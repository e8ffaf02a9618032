//===- Placement.h - which tensors are on the host --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph function runs either on the device that its module is compiled for or
// on the host (`relax.device`, Notes.h). Its ops consume and produce tensors on
// that side. Tensors on the other side come from copies, parameters and calls,
// and can only be passed on:
//
//   relax.func @main(%x)                      %x    device
//     %0 = relax.exp %x                       %0    device
//     %1 = relax.to_device %0 to "host"       %1    host
//     %2 = relax.call @on_the_host(%1)        %2    host
//     %3 = relax.exp %2                       error
//
// Placement follows from function signatures and the order of ops alone, so one
// walk over a function is enough.
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

/// The sides used by a function and, transitively, by the functions that it
/// calls.
struct Sides {
  bool host = false, device = false;
};
Sides findSides(FuncOp function, SymbolTableCollection &tables);

class Placement {
public:
  /// Emits an error at the op and fails if a tensor is on the wrong side.
  static FailureOr<Placement> of(FuncOp function,
                                 SymbolTableCollection &tables);

  /// For a tensor, a storage, or a tuple of tensors.
  bool isOnHost(Value value) const { return onHost.contains(value); }

private:
  friend class PlacementBuilder;
  DenseSet<Value> onHost;
};

/// Checks all functions of the module; emits errors and fails if any is
/// invalid.
LogicalResult checkPlaces(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_ANALYSIS_PLACEMENT_H
