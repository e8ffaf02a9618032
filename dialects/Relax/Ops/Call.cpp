//===- Call.cpp - calls across levels: tensor programs and libraries ------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Call.h"
#include "Relax/CallUtils.h"
#include "Relax/SymDirectives.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Call.cpp.inc"

void RelaxDialect::registerCallOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Call.cpp.inc"
      >();
}

/// Finds the kernel of a call and checks that it returns its destinations,
/// unless it is in buffer form.
static FailureOr<Signature> lookupKernel(Operation *op,
                                         FlatSymbolRefAttr callee,
                                         SymbolTableCollection &symbolTable) {
  auto kernel = symbolTable.lookupNearestSymbolFrom<func::FuncOp>(op, callee);
  if (!kernel)
    return op->emitOpError()
           << "'" << callee.getValue() << "' is not a kernel (func.func)";
  Signature signature = Signature::of(kernel);
  if (!isInBufferForm(kernel) &&
      signature.results.size() != op->getNumResults())
    return op->emitOpError()
           << "has " << op->getNumResults() << " results, kernel @"
           << callee.getValue() << " returns " << signature.results.size();
  return signature;
}

/// A result that the caller allocates needs a known size.
static LogicalResult verifyDestination(Operation *op, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(index).getType());
  if (type && !llvm::is_contained(getSymDims(type), SymExprAttr()))
    return success();
  return op->emitOpError() << "result #" << index
                           << " is allocated by the caller, so each of its "
                              "dimensions must be known, got "
                           << op->getResult(index).getType();
}

static LogicalResult verifyDestinations(Operation *op) {
  for (unsigned index = 0; index < op->getNumResults(); ++index)
    if (failed(verifyDestination(op, index)))
      return failure();
  return success();
}

LogicalResult CallTIROp::verify() { return verifyDestinations(*this); }

LogicalResult CallTIROp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<Signature> signature =
      lookupKernel(*this, getCalleeAttr(), symbolTable);
  if (failed(signature))
    return failure();
  return verifyKernelCall(*this, *signature, getOperandTypes(),
                          getResultTypes(), getSymArgs());
}

/// Verifies that each result is allocated here or takes an operand's storage.
static LogicalResult verifyInplace(Operation *op, ArrayRef<int64_t> indices) {
  if (indices.size() != op->getNumResults())
    return op->emitOpError() << "has " << op->getNumResults() << " results and "
                             << indices.size() << " inplace indices";
  llvm::SmallDenseSet<int64_t> seen;
  Prover prover(op->getContext(), SymbolFacts::at(op));
  for (auto [result, index] : llvm::enumerate(indices)) {
    if (index == -1) {
      if (failed(verifyDestination(op, result)))
        return failure();
      continue;
    }
    if (index < -1 || index >= static_cast<int64_t>(op->getNumOperands()))
      return op->emitOpError()
             << "inplace index " << index << " is out of range for "
             << op->getNumOperands() << " operands";
    if (!seen.insert(index).second)
      return op->emitOpError()
             << "operand " << index << " cannot be the storage of two results";
    Type operand = op->getOperand(index).getType(),
         type = op->getResult(result).getType();
    if (implies(operand, type, prover) == Truth::No)
      return op->emitOpError() << "result #" << result << " is " << type
                               << ", but takes the storage of operand " << index
                               << ", a " << operand;
  }
  return success();
}

LogicalResult CallTIRInplaceOp::verify() {
  return verifyInplace(*this, getInplaceIndices());
}

LogicalResult
CallTIRInplaceOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<Signature> signature =
      lookupKernel(*this, getCalleeAttr(), symbolTable);
  if (failed(signature))
    return failure();
  SmallVector<Type> destinations;
  for (auto [type, index] : llvm::zip(getResultTypes(), getInplaceIndices()))
    if (index == -1)
      destinations.push_back(type);
  return verifyKernelCall(*this, *signature, getOperandTypes(), destinations,
                          getSymArgs());
}

/// Verifies the name of a library function, which becomes a C string in
/// compiled code.
static LogicalResult verifyLibraryName(Operation *op, StringAttr name) {
  if (name.empty())
    return op->emitOpError() << "the name of a library function must not be "
                                "empty";
  if (name.getValue().contains('\0'))
    return op->emitOpError() << "the name of a library function must not "
                                "contain a zero character, got "
                             << name;
  return success();
}

LogicalResult CallLibraryOp::verify() {
  if (failed(verifyLibraryName(*this, getLibraryFunctionAttr())))
    return failure();
  return verifyDestinations(*this);
}

LogicalResult CallLibraryInplaceOp::verify() {
  if (failed(verifyLibraryName(*this, getLibraryFunctionAttr())))
    return failure();
  return verifyInplace(*this, getInplaceIndices());
}
