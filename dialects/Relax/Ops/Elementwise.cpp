//===- Elementwise.cpp - element-wise ops ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Elementwise.cpp.inc"

void RelaxDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Elementwise.cpp.inc"
      >();
}

LogicalResult relax::deduceSameType(Deduction &deduction, ValueRange operands,
                                    SmallVectorImpl<Type> &results) {
  if (failed(deduction.tensor(operands[0], "x")))
    return failure();
  results.push_back(operands[0].getType());
  return success();
}

/// The broadcast shape of two operands, with the given element type.
static LogicalResult broadcastInto(Deduction &deduction, ValueRange operands,
                                   std::optional<Type> elementType,
                                   SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> lhs = deduction.tensor(operands[0], "lhs");
  FailureOr<Deduction::Tensor> rhs = deduction.tensor(operands[1], "rhs");
  if (failed(lhs) || failed(rhs) ||
      failed(deduction.sameElementType(lhs->elementType, "lhs",
                                       rhs->elementType, "rhs")))
    return failure();
  Type element = elementType.value_or(lhs->elementType);
  if (!lhs->ranked || !rhs->ranked) {
    results.push_back(UnrankedTensorType::get(element));
    return success();
  }
  FailureOr<SymDims> dims =
      deduction.broadcast(lhs->dims, "lhs", rhs->dims, "rhs");
  if (failed(dims))
    return failure();
  results.push_back(getTensorType(*dims, element));
  return success();
}

LogicalResult relax::deduceBinary(Deduction &deduction, ValueRange operands,
                                  SmallVectorImpl<Type> &results) {
  return broadcastInto(deduction, operands, std::nullopt, results);
}

LogicalResult relax::deduceComparison(Deduction &deduction, ValueRange operands,
                                      SmallVectorImpl<Type> &results) {
  return broadcastInto(deduction, operands,
                       IntegerType::get(deduction.getContext(), 1), results);
}
