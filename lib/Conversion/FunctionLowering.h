//===- FunctionLowering.h - lowers a function to host code ------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a function once, in program order. Every relax value becomes a list of
// host values (HostBuilder.h), and every symbol an `index` that is available
// from its definition on. The regions of `relax.if` and `relax.while` become
// `scf` regions with their own scope of symbols.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_FUNCTIONLOWERING_H
#define RELAX_CONVERSION_FUNCTIONLOWERING_H

#include "Analysis/Placement.h"
#include "Conversion/Exports.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Index.h"
#include "Relax/Ops/Memory.h"
#include "Target/Common/HostBuilder.h"

namespace mlir::relax {

/// Names of kernels begin with this, so that none of them shadows a libm
/// function.
constexpr llvm::StringLiteral kKernelPrefix = "relax.kernel.";

/// The name of the host function of a graph function.
std::string hostName(StringRef function);
/// Makes a function private; only the exported wrappers are visible from
/// outside.
void makeInternal(func::FuncOp function);

/// Lowers one function, in program order.
class FunctionLowering {
public:
  FunctionLowering(FuncOp function, func::FuncOp host, HostBuilder &builder,
                   const WeightTable &weights, const Placement &placement,
                   SymbolTableCollection &symbolTable)
      : builder(builder), weights(weights), placement(placement),
        symbolTable(symbolTable),
        symbols(builder, host.getArgument(0), function.getSymName()),
        context(host.getArgument(0)),
        functionName(function.getSymName().str()) {}

  /// `mayRecurse`: whether calls of the function may nest without bound.
  LogicalResult lower(FuncOp function, func::FuncOp host, bool mayRecurse);

private:
  using Values = SmallVector<Value>;

  // The host values of a relax value.
  ArrayRef<Value> get(Value value) { return values.find(value)->second; }
  Value getOne(Value value) { return get(value).front(); }
  void set(Value value, Values host) { values[value] = std::move(host); }

  /// Lowers a block except for its terminator, which is passed to `finish` to
  /// forward its operands. Kills directly before the terminator are lowered
  /// after that.
  LogicalResult lowerBlock(Block &block,
                           function_ref<void(Operation *)> finish);
  LogicalResult lowerOp(Operation &op);
  LogicalResult lowerKernelCall(CallTIRInplaceOp op);
  LogicalResult evaluateComputedSizes(CallTIRInplaceOp op, func::FuncOp kernel,
                                      const SymSubstitution &known,
                                      SymbolValues &inKernel);
  /// Calls a kernel unless all tensors that it writes are empty.
  void callUnlessEmpty(CallTIRInplaceOp op, func::FuncOp kernel,
                       ValueRange args, ValueRange written);
  bool runsOnHost(CallTIRInplaceOp op) const;
  /// Starts the clock of a kernel if the call is timed.
  void beginKernel(CallTIRInplaceOp op);
  LogicalResult lowerReshape(Operation *op);
  LogicalResult lowerMatchCast(MatchCastOp op);
  LogicalResult lowerConstant(ConstantOp op);
  LogicalResult lowerIf(IfOp op);
  LogicalResult lowerWhile(WhileOp op);
  LogicalResult lowerCall(CallOp op);
  LogicalResult lowerAlloc(AllocStorageOp op);
  LogicalResult lowerTensorFromStorage(TensorFromStorageOp op);
  LogicalResult lowerMakeClosure(MakeClosureOp op);
  LogicalResult lowerCallClosure(CallClosureOp op);
  LogicalResult lowerLibraryCall(CallLibraryInplaceOp op);
  LogicalResult lowerShapeToTensor(ShapeToTensorOp op);
  LogicalResult lowerTensorToShape(TensorToShapeOp op);

  /// Records the run-time sizes of a value: defines symbols that are new, and
  /// keeps the rest for `checkClaims`.
  struct Claim {
    SymExprAttr expr;
    Value actual;
    std::string what;
  };
  void claim(Type type, ArrayRef<Value> &host, const std::string &what,
             SmallVectorImpl<Claim> &claims);
  LogicalResult checkClaims(ArrayRef<Claim> claims);
  void checkRanges(FuncOp function);
  /// Checks the size of a dimension unless it is known to be nonnegative.
  void checkNotNegative(Operation *op, SymExprAttr dim, Value size);
  LogicalResult lowerCheckIndices(CheckIndicesOp op);
  /// Fails at run time with the message unless both sizes are equal.
  void checkEqual(Value actual, Value expected, const Twine &message);

  /// The host values of `operands`, converted to `types`, with a new reference
  /// to each tensor.
  Values handOn(ValueRange operands, TypeRange types);
  Values convert(ArrayRef<Value> host, Type type);
  void retain(Value host);
  /// Binds concatenated host values to several relax values.
  void bind(ValueRange relaxValues, ValueRange host);
  /// Binds host values, which have the types `types`, to the results of an op,
  /// converting them to the result types.
  void setResults(Operation *op, ValueRange host, TypeRange types);
  LogicalResult bindInplace(Operation *op, ValueRange operands,
                            ArrayRef<int64_t> indices);
  Value condition(Value value);
  /// Reads an element of a tensor (for a boolean, its byte). If the tensor is
  /// on a device, the host waits for it.
  Value readElement(Value value, int64_t index);
  /// The addresses of the weights, looked up once at the start of the function.
  Value getWeights();
  /// Allocates a storage on the side that the op's result is on.
  Value allocate(Operation *op, Value bytes, int64_t alignment);
  /// The DLPack type of the device that holds a tensor; 0 for the host.
  int64_t deviceOf(Value value) const {
    return placement.isOnHost(value) ? 0 : builder.device;
  }
  Value evaluate(Operation *op, SymExprAttr expr) {
    Value value = symbols.evaluate(expr);
    if (!value)
      op->emitOpError() << "symbol of '" << expr.str() << "' has no value here";
    return value;
  }

  HostBuilder &builder;
  const WeightTable &weights;
  const Placement &placement;
  SymbolTableCollection &symbolTable;
  SymbolValues symbols;
  llvm::DenseMap<Value, Values> values;
  llvm::DenseSet<Value> checkedSizes;
  Value context;
  Value weightAddresses;
  std::string functionName;
};

} // namespace mlir::relax

#endif // RELAX_CONVERSION_FUNCTIONLOWERING_H
