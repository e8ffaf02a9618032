//===- FunctionLowering.h - a graph function as host code -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over a function, in program order: every relax value becomes a list
// of host values (HostBuilder.h), every symbol an `index` that is known from
// where it is defined. Regions of `relax.if` and `relax.while` become those of
// `scf`, with a scope of symbols of their own.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_FUNCTIONLOWERING_H
#define RELAX_CONVERSION_FUNCTIONLOWERING_H

#include "Analysis/Placement.h"
#include "Conversion/Exports.h"
#include "Target/Common/HostBuilder.h"

namespace mlir::relax {

/// The name of the host function of a graph function.
std::string hostName(StringRef function);
/// Hides a function: nothing but the exports is seen from outside.
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

  /// `mayRecurse`: whether calls of it may nest without an end.
  LogicalResult lower(FuncOp function, func::FuncOp host, bool mayRecurse);

private:
  using Values = SmallVector<Value>;

  // A relax value's host values.
  ArrayRef<Value> get(Value value) { return values.find(value)->second; }
  Value getOne(Value value) { return get(value).front(); }
  void set(Value value, Values host) { values[value] = std::move(host); }

  /// Lowers all of a block but its terminator, of which `finish` takes what it
  /// passes on; the kills directly before it come after that.
  LogicalResult lowerBlock(Block &block,
                           function_ref<void(Operation *)> finish);
  LogicalResult lowerOp(Operation &op);
  LogicalResult lowerKernelCall(CallTIRInplaceOp op);
  LogicalResult evaluateComputedSizes(CallTIRInplaceOp op, func::FuncOp kernel,
                                      const SymSubstitution &known,
                                      SymbolValues &inKernel);
  /// Calls a kernel unless no tensor that it writes has any elements.
  void callUnlessEmpty(func::FuncOp kernel, ValueRange args,
                       ValueRange written);
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

  /// Enters the sizes that a value has at run time: defines what is new, and
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
  /// The size of a dimension, where it is not proved to be one.
  void checkNotNegative(Operation *op, SymExprAttr dim, Value size);
  LogicalResult lowerCheckIndices(CheckIndicesOp op);
  /// Fails with the message unless both sizes are equal.
  void checkEqual(Value actual, Value expected, const Twine &message);

  /// The host values of `value` with a new reference to each tensor, as values
  /// of `types`.
  Values handOn(ValueRange operands, TypeRange types);
  Values convert(ArrayRef<Value> host, Type type);
  void retain(Value host);
  /// Binds the host values of several relax values, which stand one behind the
  /// other.
  void bind(ValueRange relaxValues, ValueRange host);
  /// Binds host values to the results of an op, converted to their types from
  /// `types`, of which they are.
  void setResults(Operation *op, ValueRange host, TypeRange types);
  LogicalResult bindInplace(Operation *op, ValueRange operands,
                            ArrayRef<int64_t> indices);
  Value condition(Value value);
  /// An element of a tensor, or the byte of a boolean; the host waits for it
  /// where a device has the tensor.
  Value readElement(Value value, int64_t index);
  /// The addresses of the weights, found once where the function begins.
  Value getWeights();
  /// A storage where the op's result is.
  Value allocate(Operation *op, Value bytes, int64_t alignment);
  /// DLPack's type of the device that has a tensor; 0 for the host.
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
