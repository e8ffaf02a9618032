//===- CallUtils.cpp - unification of signatures at calls -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/CallUtils.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::relax;

/// The dimension, if the operand's type gives it.
static SymExprAttr getKnownDim(DimOp op) {
  SymDims dims;
  if (auto tensor = dyn_cast<RankedTensorType>(op.getInput().getType()))
    dims = getSymDims(tensor);
  else if (auto shape = dyn_cast<ShapeType>(op.getInput().getType()))
    dims.assign(shape.getDims().begin(), shape.getDims().end());
  int64_t index = op.getIndex(), rank = dims.size();
  if (index < -rank || index >= rank)
    return {};
  return dims[index < 0 ? index + rank : index];
}

SymExprAttr relax::getIntegerExpr(Value value) {
  MLIRContext *context = value.getContext();
  // Look through dataflow blocks.
  while (auto dataflow = value.getDefiningOp<DataflowOp>()) {
    Block &block = dataflow.getBody().front();
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (!block.mightHaveTerminator() ||
        index >= block.getTerminator()->getNumOperands())
      return {};
    value = block.getTerminator()->getOperand(index);
  }
  if (auto sym = value.getDefiningOp<SymOp>())
    return sym.getExpr();
  if (auto dim = value.getDefiningOp<DimOp>())
    return getKnownDim(dim);
  APInt constant;
  if (value.getDefiningOp() && matchPattern(value, m_ConstantInt(&constant)) &&
      constant.isSignedIntN(64) && constant.getSExtValue() != INT64_MIN)
    return SymExprAttr::getConstant(context, constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(
            argument.getOwner()->getParentOp()))
      if (argument.getOwner()->isEntryBlock())
        if (auto symbol = function.getArgAttrOfType<StringAttr>(
                argument.getArgNumber(), RelaxDialect::kSymbolAttr))
          return SymExprAttr::getSymbol(context, symbol.getValue());
  return {};
}

bool relax::isInBufferForm(FunctionOpInterface function) {
  return function.getNumResults() == 0 &&
         llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<MemRefType>) &&
         llvm::none_of(function.getArgumentTypes(), llvm::IsaPred<TensorType>);
}

/// Adds the `relax.shape` of a kernel parameter or result to its type.
static Type annotate(Type type, Attribute shape) {
  // Callers see the buffers of a kernel as tensors.
  if (auto buffer = dyn_cast<MemRefType>(type);
      buffer && buffer.getLayout().isIdentity() && !buffer.getMemorySpace() &&
      TensorType::isValidElementType(buffer.getElementType()))
    type = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dims = dyn_cast_or_null<ShapeAttr>(shape);
  if (!tensor || !dims)
    return type;
  return getTensorType(dims.getDims(), tensor.getElementType());
}

Signature Signature::of(FunctionOpInterface function) {
  Signature signature;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    signature.parameters.push_back(
        annotate(type, function.getArgAttr(index, RelaxDialect::kShapeAttr)));
    signature.parameterSymbols.push_back(function.getArgAttrOfType<StringAttr>(
        index, RelaxDialect::kSymbolAttr));
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    signature.results.push_back(annotate(
        type, function.getResultAttr(index, RelaxDialect::kShapeAttr)));
  signature.ranges =
      function->getAttrOfType<DictionaryAttr>(RelaxDialect::kSymbolsAttr);
  return signature;
}

Signature Signature::of(FunctionType type) {
  Signature signature;
  signature.parameters.assign(type.getInputs().begin(), type.getInputs().end());
  signature.results.assign(type.getResults().begin(), type.getResults().end());
  signature.parameterSymbols.resize(signature.parameters.size());
  return signature;
}

LogicalResult relax::unifyCall(Operation *call, const Signature &signature,
                               ValueRange operands, Unifier &unifier,
                               ArrayRef<unsigned> first) {
  auto emitError = [&] { return call->emitOpError(); };
  if (signature.parameters.size() != operands.size())
    return call->emitOpError()
           << "passes " << operands.size() << " arguments, the callee has "
           << signature.parameters.size() << " parameters";
  llvm::SmallSetVector<unsigned, 8> order(first.begin(), first.end());
  for (unsigned index = 0; index < operands.size(); ++index)
    order.insert(index);
  for (unsigned index : order) {
    std::string where = ("argument " + Twine(index)).str();
    if (failed(addEquations(unifier, signature.parameters[index],
                            operands[index].getType(), where, emitError)))
      return failure();
    if (StringAttr symbol = signature.parameterSymbols[index])
      unifier.add(SymExprAttr::getSymbol(call->getContext(), symbol.getValue()),
                  getIntegerExpr(operands[index]), where);
  }
  return unifier.solve(emitError);
}

FailureOr<SmallVector<Type>> relax::deduceCall(Operation *call,
                                               const Signature &signature,
                                               ValueRange operands) {
  Prover prover(call->getContext(), SymbolFacts::at(call));
  SymbolFacts calleeFacts(signature.ranges);
  Unifier unifier(prover, call->getContext(), &calleeFacts);
  if (failed(unifyCall(call, signature, operands, unifier)))
    return failure();
  SmallVector<Type> results;
  for (Type result : signature.results)
    results.push_back(instantiate(result, unifier));
  return results;
}

LogicalResult relax::verifyCall(Operation *call, const Signature &signature,
                                ValueRange operands, TypeRange results) {
  FailureOr<SmallVector<Type>> deduced = deduceCall(call, signature, operands);
  if (failed(deduced))
    return failure();
  if (deduced->size() != results.size())
    return call->emitOpError()
           << "has " << results.size() << " results, the callee returns "
           << deduced->size();
  Deduction deduction(call->getContext(), call->getLoc(),
                      call->getName().getStringRef(), operands);
  return detail::verifyDeducedTypes(deduction, *deduced, results);
}

/// Each symbol of a kernel must be determined at run time: by a plain dimension
/// or an integer parameter, or solved for at the call.
static LogicalResult verifyDetermined(Operation *call,
                                      const Signature &signature,
                                      const Unifier &unifier) {
  llvm::DenseSet<StringAttr> determined;
  for (auto [type, symbol] :
       llvm::zip(signature.parameters, signature.parameterSymbols)) {
    walkDefinedSymbols(type, [&](StringAttr name) { determined.insert(name); });
    if (symbol)
      determined.insert(symbol);
  }
  StringAttr missing;
  for (Type type :
       llvm::concat<const Type>(signature.parameters, signature.results))
    walkSymbols(type, [&](StringAttr name) {
      if (!determined.contains(name) && !unifier.getBindings().contains(name))
        missing = name;
    });
  if (!missing)
    return success();
  return call->emitOpError()
         << "no argument determines symbol '" << missing.getValue()
         << "' of the kernel; give the kernel an integer parameter with "
            "relax.symbol and pass the value as 'sym'";
}

/// Kernel types are signless: a tensor of `ui8` becomes one of `i8`.
static Type dropSign(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  auto integer =
      tensor ? dyn_cast<IntegerType>(tensor.getElementType()) : IntegerType();
  if (!integer || integer.isSignless())
    return type;
  return tensor.clone(IntegerType::get(type.getContext(), integer.getWidth()));
}

LogicalResult relax::unifyKernelCall(Operation *call,
                                     const Signature &signature,
                                     TypeRange operands, TypeRange destinations,
                                     ArrayAttr syms, Unifier &unifier) {
  MLIRContext *context = call->getContext();
  auto emitError = [&] { return call->emitOpError(); };
  size_t expected = operands.size() + destinations.size() + syms.size();
  if (signature.parameters.size() != expected)
    return call->emitOpError()
           << "needs a kernel of " << expected << " parameters ("
           << operands.size() << " inputs, " << destinations.size()
           << " destinations, " << syms.size() << " symbolic arguments), got "
           << signature.parameters.size();
  size_t position = 0;
  auto addTypes = [&](TypeRange types, StringRef what) {
    for (auto [index, type] : llvm::enumerate(types))
      if (failed(addEquations(
              unifier, dropSign(signature.parameters[position++]),
              dropSign(type), Twine(what) + " " + Twine(index), emitError)))
        return failure();
    return success();
  };
  if (failed(addTypes(operands, "input")) ||
      failed(addTypes(destinations, "result")))
    return failure();
  // Kernels in buffer form return nothing: results are in their destinations.
  TypeRange returned = call->getResultTypes();
  for (auto [index, result, type] :
       llvm::enumerate(signature.results,
                       signature.results.empty() ? TypeRange() : returned))
    if (failed(addEquations(unifier, dropSign(result), dropSign(type),
                            "kernel result " + Twine(index), emitError)))
      return failure();
  for (auto [index, sym] : llvm::enumerate(syms.getAsRange<SymExprAttr>())) {
    std::string where = ("symbolic argument " + Twine(index)).str();
    Type type = signature.parameters[position];
    if (!type.isIntOrIndex())
      return call->emitOpError()
             << where << ": the kernel's parameter " << position
             << " must be an integer, got " << type;
    if (StringAttr symbol = signature.parameterSymbols[position])
      unifier.add(SymExprAttr::getSymbol(context, symbol.getValue()), sym,
                  where);
    ++position;
  }
  return unifier.solve(emitError);
}

LogicalResult relax::verifyKernelCall(Operation *call,
                                      const Signature &signature,
                                      TypeRange operands,
                                      TypeRange destinations, ArrayAttr syms) {
  Prover prover(call->getContext(), SymbolFacts::at(call));
  SymbolFacts calleeFacts(signature.ranges);
  Unifier unifier(prover, call->getContext(), &calleeFacts);
  if (failed(unifyKernelCall(call, signature, operands, destinations, syms,
                             unifier)))
    return failure();
  return verifyDetermined(call, signature, unifier);
}
