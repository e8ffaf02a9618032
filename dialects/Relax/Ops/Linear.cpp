//===- Linear.cpp - matrix products ---------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Linear.h"
#include "Relax/Rules.h"

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

/// The element type of a product: `asked`, or the operands' type.
static FailureOr<Type> productType(Deduction &deduction,
                                   std::optional<Type> asked, Type element) {
  if (!asked)
    return element;
  return elementTypeAttr(deduction, *asked, "out_dtype", Elements::Number);
}

/// Reads two factors of the same element type.
static LogicalResult readFactors(Deduction &deduction, Value lhs,
                                 StringRef lhsName, Value rhs,
                                 StringRef rhsName, Deduction::Tensor &lhsOut,
                                 Deduction::Tensor &rhsOut) {
  FailureOr<Deduction::Tensor> l =
      tensorOf(deduction, lhs, lhsName, Elements::Number);
  if (failed(l))
    return failure();
  FailureOr<Deduction::Tensor> r =
      tensorOf(deduction, rhs, rhsName, Elements::Number);
  if (failed(r))
    return failure();
  lhsOut = *l;
  rhsOut = *r;
  return deduction.sameElementType(l->elementType, lhsName, r->elementType,
                                   rhsName);
}

static LogicalResult requireNoScalar(Deduction &deduction,
                                     const Deduction::Tensor &tensor,
                                     StringRef name) {
  if (!tensor.ranked || !tensor.dims.empty())
    return success();
  return deduction.emitError()
         << name << " must have rank 1 or more, got a scalar";
}

LogicalResult MatmulOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  Deduction::Tensor lhs, rhs;
  if (failed(readFactors(deduction, op.getLhs(), "lhs", op.getRhs(), "rhs", lhs,
                         rhs)) ||
      failed(requireNoScalar(deduction, lhs, "lhs")) ||
      failed(requireNoScalar(deduction, rhs, "rhs")))
    return failure();
  FailureOr<Type> element =
      productType(deduction, op.getOutDtype(), lhs.elementType);
  if (failed(element))
    return failure();
  if (!lhs.ranked || !rhs.ranked) {
    results.push_back(UnrankedTensorType::get(*element));
    return success();
  }
  ArrayRef<SymExprAttr> l = lhs.dims, r = rhs.dims;
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
  results.push_back(getTensorType(*dims, *element));
  return success();
}

LogicalResult LinearOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  Deduction::Tensor x, weight;
  if (failed(readFactors(deduction, op.getX(), "x", op.getWeight(), "weight", x,
                         weight)) ||
      failed(requireNoScalar(deduction, x, "x")) ||
      failed(requireRank(deduction, weight, "weight", 2)))
    return failure();
  FailureOr<Type> element =
      productType(deduction, op.getOutDtype(), x.elementType);
  if (failed(element))
    return failure();
  SymExprAttr out;
  if (weight.ranked) {
    out = weight.dims[0];
    if (x.ranked &&
        failed(deduction.equalDim(x.dims.back(), "last dimension of x",
                                  weight.dims[1], "dimension 1 of weight")))
      return failure();
  }
  if (op.getBias()) {
    FailureOr<Deduction::Tensor> bias =
        tensorOf(deduction, op.getBias(), "bias", Elements::Number);
    if (failed(bias) ||
        failed(deduction.sameElementType(x.elementType, "x", bias->elementType,
                                         "bias")) ||
        failed(requireRank(deduction, *bias, "bias", 1)))
      return failure();
    if (bias->ranked) {
      FailureOr<SymExprAttr> both = deduction.equalDim(
          out, "dimension 0 of weight", bias->dims[0], "dimension 0 of bias");
      if (failed(both))
        return failure();
      out = *both;
    }
  }
  if (!x.ranked) {
    results.push_back(UnrankedTensorType::get(*element));
    return success();
  }
  x.dims.back() = out;
  results.push_back(getTensorType(x.dims, *element));
  return success();
}

LogicalResult OuterOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  Deduction::Tensor x1, x2;
  if (failed(
          readFactors(deduction, op.getX1(), "x1", op.getX2(), "x2", x1, x2)) ||
      failed(requireRank(deduction, x1, "x1", 1)) ||
      failed(requireRank(deduction, x2, "x2", 1)))
    return failure();
  results.push_back(getTensorType({x1.ranked ? x1.dims[0] : SymExprAttr(),
                                   x2.ranked ? x2.dims[0] : SymExprAttr()},
                                  x1.elementType));
  return success();
}
