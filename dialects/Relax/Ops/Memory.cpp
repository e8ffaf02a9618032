//===- Memory.cpp - copies between devices, and storage -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Memory.h"
#include "Relax/SymDirectives.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Memory.cpp.inc"

void RelaxDialect::registerMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Memory.cpp.inc"
      >();
}

LogicalResult ToDeviceOp::deduce(Deduction &, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  results.push_back(op.getInput().getType());
  return success();
}

/// Bytes and offsets must not be provably negative.
static LogicalResult verifyBytes(Operation *op, SymExprAttr bytes,
                                 StringRef name) {
  Prover prover(op->getContext(), SymbolFacts::at(op));
  SymExprAttr zero = SymExprAttr::getConstant(op->getContext(), 0);
  if (prover.less(bytes, zero) == Truth::Yes)
    return op->emitOpError() << name << " is negative: " << bytes.str();
  return success();
}

LogicalResult AllocStorageOp::verify() {
  int64_t alignment = getAlignment();
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitOpError() << "alignment must be a power of two, got "
                         << alignment;
  return verifyBytes(*this, getBytes(), "the size");
}

LogicalResult TensorFromStorageOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || llvm::is_contained(getSymDims(type), SymExprAttr()))
    return emitOpError() << "each dimension of the result must be known, got "
                         << getType();
  return verifyBytes(*this, getOffset(), "the offset");
}
