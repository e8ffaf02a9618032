//===- Exports.h - the outside of a lowered module --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_EXPORTS_H
#define RELAX_CONVERSION_EXPORTS_H

#include "Analysis/Placement.h"
#include "Relax/RelaxOps.h"
#include "Target/Common/HostBuilder.h"
#include "Transforms/Memory/Writes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {

/// The words that describe a type to the runtime (RelaxRuntime.h).
void appendWords(Type type, int64_t flags, SmallVectorImpl<int64_t> &words);
/// Those of a signature. `flags` are those of each parameter, then of each
/// result.
SmallVector<int64_t> getSignatureWords(TypeRange parameters, TypeRange results,
                                       int64_t device, ArrayRef<int64_t> flags);

/// The weights of a module and the table of their addresses.
class WeightTable {
public:
  /// Finds the weights that `module` names; fails where one name has two types.
  static FailureOr<WeightTable> of(ModuleOp module, HostBuilder &builder);

  bool empty() const { return types.empty(); }
  /// The addresses of the weights that a call uses. Fails at run time where a
  /// weight is not bound.
  Value getAddresses(HostBuilder &builder, Value context) const;
  /// Loads the address of a weight's data on a device, or on the host (0).
  Value load(HostBuilder &builder, Value addresses, StringAttr name,
             int64_t device) const;
  /// `__tvm_ffi_bind_weight`, and the reverse in `relax_unload`, which is
  /// there.
  void exportBinding(HostBuilder &builder) const;

private:
  /// By name and device: one that both sides read is there twice.
  using Key = std::pair<StringAttr, int64_t>;
  llvm::MapVector<Key, RankedTensorType> types;
  LLVM::GlobalOp table, words, names;
};

/// What a caller from outside needs to know of a graph function.
struct ExportedFunction {
  StringRef name;
  SmallVector<Type> parameters, results;
  SmallVector<std::string> parameterNames;
  /// Parameters that the function writes into.
  llvm::SmallBitVector mutableParameters;
  /// Parameters and results that are on the host.
  llvm::SmallBitVector hostParameters, hostResults;
  /// Whether it, or what it calls, reads a weight.
  bool readsWeights = false;
  /// Where it, and what it calls, runs.
  Sides sides;

  static ExportedFunction of(FuncOp function, const Writes &writes,
                             SymbolTableCollection &tables);
};

/// Makes `__tvm_ffi_<name>` and the thunk that calls the host function
/// `callee`.
void exportFunction(HostBuilder &builder, const ExportedFunction &function,
                    StringRef callee, const WeightTable &weights);

} // namespace mlir::relax

#endif // RELAX_CONVERSION_EXPORTS_H
