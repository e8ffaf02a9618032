//===- Manipulate.cpp - reshaping and rearranging -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules for ops that keep the elements of a single tensor. Rules for joining,
// splitting and repeating are in ManipulateJoin.cpp, folds and rewrites in
// ManipulateFold.cpp.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Manipulate.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Manipulate.cpp.inc"

void RelaxDialect::registerManipulateOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Manipulate.cpp.inc"
      >();
}

SymExprAttr relax::countElements(SymBuilder &math, ArrayRef<SymExprAttr> dims) {
  // A zero determines the product, whatever the other sizes are.
  for (SymExprAttr dim : dims)
    if (dim && dim.isConstant(0))
      return dim;
  return math.product(dims);
}

//===----------------------------------------------------------------------===//
// Towards a target shape
//===----------------------------------------------------------------------===//

/// The target dimensions, from a shape value or from expressions; nullopt if
/// the rank is unknown. With `allowInferred`, one expression may be -1.
static FailureOr<std::optional<SymDims>>
getTarget(Deduction &deduction, Value shape, std::optional<ArrayAttr> dims,
          bool allowInferred = false) {
  if (!shape == !dims)
    return deduction.emitError() << "needs either a shape operand or dims, got "
                                 << (shape ? "both" : "neither");
  if (shape) {
    FailureOr<ShapeType> type = deduction.shape(shape, "shape");
    if (failed(type))
      return failure();
    if (!type->getRanked())
      return std::optional<SymDims>();
    return std::optional<SymDims>(SymDims(type->getDims()));
  }
  SymDims result;
  bool inferred = false;
  for (SymExprAttr dim : getSymExprs(*dims)) {
    if (allowInferred && dim && dim.isConstant(-1)) {
      if (inferred)
        return deduction.emitError()
               << "dims may hold one -1, got " << describe(getSymExprs(*dims));
      inferred = true;
    } else if (deduction.prover().less(dim, deduction.constant(0)) ==
                   Truth::Yes ||
               (dim && dim.isConstant() && dim.getValue() < 0)) {
      return deduction.emitError() << "dimension " << result.size()
                                   << " of dims is negative: " << describe(dim);
    }
    result.push_back(dim);
  }
  return std::optional<SymDims>(std::move(result));
}

/// Infers the -1 of a reshape from the number of elements.
static FailureOr<SymExprAttr> inferDim(Deduction &deduction, SymExprAttr count,
                                       SymExprAttr rest, bool asked) {
  if (asked && rest && rest.isConstant(0))
    return deduction.emitError()
           << "cannot infer -1: the product of the other dimensions is 0";
  if (!count || !rest)
    return SymExprAttr();
  bool nonZero =
      (rest.isConstant() && !rest.isConstant(0)) ||
      deduction.prover().equal(rest, deduction.constant(0)) == Truth::No;
  // If the other dimensions may be zero, -1 means the quotient by definition,
  // but a dimension of a shape value has its own value.
  if (!asked && !nonZero)
    return SymExprAttr();
  if (SymExprAttr quotient = deduction.math().exactDiv(count, rest))
    return quotient;
  if (!nonZero)
    return SymExprAttr();
  bool constants = count.isConstant() && rest.isConstant();
  if (constants || deduction.prover().divisible(count, rest) == Truth::No)
    return deduction.emitError()
           << "the " << describe(count)
           << " elements of x cannot be divided by the product of the other "
              "dimensions, "
           << describe(rest);
  return deduction.math().floordiv(count, rest);
}

LogicalResult ReshapeOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  FailureOr<std::optional<SymDims>> target =
      getTarget(deduction, op.getShape(), op.getDims(), /*allowInferred=*/true);
  if (failed(target))
    return failure();
  if (!*target) {
    results.push_back(UnrankedTensorType::get(x->elementType));
    return success();
  }
  SymDims &dims = **target;
  SymExprAttr count =
      x->ranked ? countElements(deduction.math(), x->dims) : SymExprAttr();
  auto isOpen = [](SymExprAttr dim) { return !dim || dim.isConstant(-1); };
  int64_t open = llvm::count_if(dims, isOpen);
  SymDims known(llvm::make_filter_range(
      dims, [&](SymExprAttr dim) { return !isOpen(dim); }));
  SymExprAttr rest = countElements(deduction.math(), known);
  if (deduction.math().failed())
    return failure();
  if (open == 1) {
    auto it = llvm::find_if(dims, isOpen);
    FailureOr<SymExprAttr> dim =
        inferDim(deduction, count, rest, /*asked=*/static_cast<bool>(*it));
    if (failed(dim))
      return failure();
    *it = *dim;
  } else if (open == 0 && count &&
             deduction.prover().equal(count, rest) == Truth::No) {
    return deduction.emitError()
           << "x of shape " << describe(x->dims) << " has " << describe(count)
           << " elements, the target " << describe(dims) << " has "
           << describe(rest);
  }
  results.push_back(getTensorType(dims, x->elementType));
  return success();
}

LogicalResult relax::checkBroadcastTo(Deduction &deduction,
                                      ArrayRef<SymExprAttr> from,
                                      StringRef fromName,
                                      ArrayRef<SymExprAttr> to,
                                      StringRef toName) {
  if (from.size() > to.size())
    return deduction.emitError()
           << fromName << " of rank " << from.size()
           << " cannot be broadcast to " << toName << " of rank " << to.size();
  size_t offset = to.size() - from.size();
  for (auto [index, f] : llvm::enumerate(from)) {
    SymExprAttr t = to[offset + index];
    if (deduction.prover().equal(f, deduction.constant(1)) == Truth::No &&
        deduction.prover().equal(f, t) == Truth::No)
      return deduction.emitError()
             << "dimension " << index << " of " << fromName << " is "
             << describe(f) << " and cannot be broadcast to dimension "
             << offset + index << " of " << toName << ", " << describe(t);
  }
  return success();
}

LogicalResult BroadcastToOp::deduce(Deduction &deduction, Adaptor op,
                                    SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  FailureOr<std::optional<SymDims>> target =
      getTarget(deduction, op.getShape(), op.getDims());
  if (failed(x) || failed(target))
    return failure();
  if (!*target) {
    results.push_back(UnrankedTensorType::get(x->elementType));
    return success();
  }
  SymDims &dims = **target;
  if (x->ranked) {
    if (failed(checkBroadcastTo(deduction, x->dims, "x", dims, "the target")))
      return failure();
    // If the target size is unknown, a constant other than 1 must stay.
    for (auto [dim, own] :
         llvm::zip(llvm::reverse(dims), llvm::reverse(x->dims)))
      if (!dim && own && own.isConstant() && !own.isConstant(1))
        dim = own;
  }
  results.push_back(getTensorType(dims, x->elementType));
  return success();
}

LogicalResult CollapseSumToOp::deduce(Deduction &deduction, Adaptor op,
                                      SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<std::optional<SymDims>> target =
      getTarget(deduction, op.getShape(), op.getDims());
  if (failed(data) || failed(target))
    return failure();
  if (data->ranked && *target &&
      failed(checkBroadcastTo(deduction, **target, "the target", data->dims,
                              "data")))
    return failure();
  results.push_back(Deduction::tensorType(*target, data->elementType));
  return success();
}

LogicalResult CollapseSumLikeOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> data = deduction.tensor(op.getData(), "data");
  FailureOr<Deduction::Tensor> target =
      deduction.tensor(op.getCollapseTarget(), "collapse_target");
  if (failed(data) || failed(target))
    return failure();
  if (!target->ranked) {
    results.push_back(UnrankedTensorType::get(data->elementType));
    return success();
  }
  if (data->ranked &&
      failed(checkBroadcastTo(deduction, target->dims, "collapse_target",
                              data->dims, "data")))
    return failure();
  results.push_back(getTensorType(target->dims, data->elementType));
  return success();
}

LogicalResult FlattenOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  SymExprAttr count =
      x->ranked ? countElements(deduction.math(), x->dims) : SymExprAttr();
  results.push_back(getTensorType(count, x->elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// Reordering, adding and dropping dimensions
//===----------------------------------------------------------------------===//

LogicalResult PermuteDimsOp::deduce(Deduction &deduction, Adaptor op,
                                    SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  std::optional<ArrayRef<int64_t>> given = op.getAxes();
  if (!given) {
    std::optional<SymDims> dims;
    if (x->ranked)
      dims = SymDims(llvm::reverse(x->dims));
    results.push_back(Deduction::tensorType(dims, x->elementType));
    return success();
  }
  if (x->ranked && static_cast<int64_t>(given->size()) != x->rank())
    return deduction.emitError()
           << "axes has " << given->size() << " entries for a tensor of rank "
           << x->rank();
  FailureOr<SmallVector<int64_t>> axes = deduction.axes(*given, given->size());
  if (failed(axes))
    return failure();
  SymDims dims;
  for (int64_t axis : *axes)
    dims.push_back(x->ranked ? x->dims[axis] : SymExprAttr());
  results.push_back(getTensorType(dims, x->elementType));
  return success();
}

LogicalResult ExpandDimsOp::deduce(Deduction &deduction, Adaptor op,
                                   SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  if (!x->ranked) {
    results.push_back(UnrankedTensorType::get(x->elementType));
    return success();
  }
  size_t rank = x->rank() + op.getAxis().size();
  FailureOr<SmallVector<int64_t>> axes =
      deduction.axes(op.getAxis(), rank, "axis");
  if (failed(axes))
    return failure();
  SymDims dims(rank);
  for (int64_t axis : *axes)
    dims[axis] = deduction.constant(1);
  ArrayRef<SymExprAttr> rest = x->dims;
  llvm::BitVector isNew(rank);
  for (int64_t axis : *axes)
    isNew.set(axis);
  for (size_t i = 0; i < rank; ++i)
    if (!isNew[i]) {
      dims[i] = rest.front();
      rest = rest.drop_front();
    }
  results.push_back(getTensorType(dims, x->elementType));
  return success();
}

LogicalResult SqueezeOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x))
    return failure();
  std::optional<SymDims> dims;
  if (x->ranked)
    dims.emplace();
  if (x->ranked && op.getAxis()) {
    FailureOr<SmallVector<int64_t>> axes =
        deduction.axes(*op.getAxis(), x->rank(), "axis");
    if (failed(axes))
      return failure();
    llvm::BitVector dropped(x->rank());
    for (int64_t axis : *axes) {
      dropped.set(axis);
      SymExprAttr dim = x->dims[axis];
      if (deduction.prover().equal(dim, deduction.constant(1)) == Truth::No)
        return deduction.emitError() << "dimension " << axis << " of x is "
                                     << describe(dim) << ", not 1";
    }
    for (auto [index, dim] : llvm::enumerate(x->dims))
      if (!dropped[index])
        dims->push_back(dim);
  } else if (x->ranked) {
    for (SymExprAttr dim : x->dims) {
      Truth isOne = deduction.prover().equal(dim, deduction.constant(1));
      if (isOne == Truth::Unknown) {
        dims.reset();
        break;
      }
      if (isOne == Truth::No)
        dims->push_back(dim);
    }
  }
  results.push_back(Deduction::tensorType(dims, x->elementType));
  return success();
}
