//===- Exports.h - exported interface of a module ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_EXPORTS_H
#define RELAX_CONVERSION_EXPORTS_H

#include "Analysis/Placement.h"
#include "Target/Common/HostBuilder.h"
#include "Transforms/Memory/Writes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {

/// Appends the words that describe a type to the runtime (RelaxRuntime.h).
void appendWords(Type type, int64_t flags, SmallVectorImpl<int64_t> &words);
/// The words that describe a signature. `flags` has one entry for each
/// parameter, then one for each result.
SmallVector<int64_t> getSignatureWords(TypeRange parameters, TypeRange results,
                                       int64_t device, ArrayRef<int64_t> flags);

/// The weights of a module and the table of their addresses.
class WeightTable {
public:
  /// Finds the weights that `module` names; fails if a name is used with two
  /// types.
  static FailureOr<WeightTable> of(ModuleOp module, HostBuilder &builder);

  bool empty() const { return types.empty(); }
  /// The addresses of the weights that a call uses. Fails at run time if a
  /// weight is not bound.
  Value getAddresses(HostBuilder &builder, Value context) const;
  /// Loads the address of a weight's data on a device (DLPack's type; 0 for the
  /// host).
  Value load(HostBuilder &builder, Value addresses, StringAttr name,
             int64_t device) const;
  /// Defines `__tvm_ffi_bind_weight`, and extends the existing `relax_unload`
  /// to unbind the weights.
  void exportBinding(HostBuilder &builder) const;

private:
  /// Keyed by name and device: a weight that both sides read has two entries.
  using Key = std::pair<StringAttr, int64_t>;
  llvm::MapVector<Key, RankedTensorType> types;
  LLVM::GlobalOp table, words, names;
};

/// The properties of a graph function that its exported wrapper needs.
struct ExportedFunction {
  StringRef name;
  SmallVector<Type> parameters, results;
  SmallVector<std::string> parameterNames;
  /// The parameters that the function writes to.
  llvm::SmallBitVector mutableParameters;
  /// The parameters and results that are on the host.
  llvm::SmallBitVector hostParameters, hostResults;
  /// Whether the function, or anything it calls, reads a weight.
  bool readsWeights = false;
  /// The sides that the function, and everything it calls, uses.
  Sides sides;

  static ExportedFunction of(FuncOp function, const Writes &writes,
                             SymbolTableCollection &tables);
};

/// Creates `__tvm_ffi_<name>` and the thunk that calls the host function
/// `callee`.
void exportFunction(HostBuilder &builder, const ExportedFunction &function,
                    StringRef callee, const WeightTable &weights);

} // namespace mlir::relax

#endif // RELAX_CONVERSION_EXPORTS_H
