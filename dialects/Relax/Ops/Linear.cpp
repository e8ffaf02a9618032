//===- Linear.cpp - matrix products ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxOps.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Linear.cpp.inc"

void RelaxDialect::registerLinearOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Linear.cpp.inc"
      >();
}

LogicalResult MatmulOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> lhs = deduction.tensor(op.getLhs(), "lhs");
  FailureOr<Deduction::Tensor> rhs = deduction.tensor(op.getRhs(), "rhs");
  if (failed(lhs) || failed(rhs) ||
      failed(deduction.sameElementType(lhs->elementType, "lhs",
                                       rhs->elementType, "rhs")))
    return failure();
  Type element = op.getOutDtype().value_or(lhs->elementType);
  for (auto [operand, name] : {std::pair(&*lhs, "lhs"), std::pair(&*rhs, "rhs")})
    if (operand->ranked && operand->dims.empty())
      return deduction.emitError()
             << name << " must have rank 1 or more, got a scalar";
  if (!lhs->ranked || !rhs->ranked) {
    results.push_back(UnrankedTensorType::get(element));
    return success();
  }
  ArrayRef<SymExprAttr> l = lhs->dims, r = rhs->dims;
  SymExprAttr lhsK = l.back(), rhsK = r.size() == 1 ? r[0] : r[r.size() - 2];
  if (failed(deduction.equalDim(lhsK, "contracting dimension of lhs", rhsK,
                                "of rhs")))
    return failure();
  FailureOr<SymDims> dims =
      deduction.broadcast(l.drop_back(std::min<size_t>(l.size(), 2)), "lhs",
                          r.drop_back(std::min<size_t>(r.size(), 2)), "rhs");
  if (failed(dims))
    return failure();
  if (l.size() > 1)
    dims->push_back(l[l.size() - 2]);
  if (r.size() > 1)
    dims->push_back(r.back());
  results.push_back(getTensorType(*dims, element));
  return success();
}
