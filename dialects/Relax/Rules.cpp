//===- Rules.cpp - deduction rules shared by many ops ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Rules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isNumberOfBits(Type type) {
  return isa<IntegerType>(type) && !type.isInteger(1);
}

static bool isOfKind(Type type, Elements kind) {
  switch (kind) {
  case Elements::Any:
    return isa<FloatType, IntegerType>(type);
  case Elements::Number:
    return isa<FloatType>(type) || isNumberOfBits(type);
  case Elements::Float:
    return isa<FloatType>(type);
  case Elements::Integer:
    return isNumberOfBits(type);
  case Elements::IntegerOrBool:
    return isa<IntegerType>(type);
  case Elements::Bool:
    return type.isSignlessInteger(1);
  }
  llvm_unreachable("unknown kind of elements");
}

static StringRef wordsFor(Elements kind) {
  switch (kind) {
  case Elements::Any:
    return "float or integer elements";
  case Elements::Number:
    return "float elements or integers of two or more bits";
  case Elements::Float:
    return "float elements";
  case Elements::Integer:
    return "integer elements of two or more bits";
  case Elements::IntegerOrBool:
    return "integer elements";
  case Elements::Bool:
    return "Boolean elements (i1)";
  }
  llvm_unreachable("unknown kind of elements");
}

LogicalResult relax::requireElements(Deduction &deduction, Type elementType,
                                     StringRef name, Elements kind) {
  if (isOfKind(elementType, kind))
    return success();
  return deduction.emitError()
         << name << " must have " << wordsFor(kind) << ", got " << elementType
         << "; convert it with relax.astype";
}

FailureOr<Deduction::Tensor> relax::tensorOf(Deduction &deduction, Value value,
                                             StringRef name, Elements kind) {
  FailureOr<Deduction::Tensor> tensor = deduction.tensor(value, name);
  if (failed(tensor) ||
      failed(requireElements(deduction, tensor->elementType, name, kind)))
    return failure();
  return tensor;
}

FailureOr<Type> relax::elementTypeAttr(Deduction &deduction, Type dtype,
                                       StringRef name, Elements kind) {
  if (isOfKind(dtype, kind))
    return dtype;
  return deduction.emitError() << name << " must be a type of "
                               << wordsFor(kind) << ", got " << dtype;
}

LogicalResult relax::requireRank(Deduction &deduction,
                                 const Deduction::Tensor &tensor,
                                 StringRef name, int64_t rank) {
  if (!tensor.ranked || tensor.rank() == rank)
    return success();
  return deduction.emitError() << name << " must have rank " << rank
                               << ", got rank " << tensor.rank();
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

LogicalResult relax::deduceUnary(Deduction &deduction, ValueRange operands,
                                 Elements kind,
                                 SmallVectorImpl<Type> &results) {
  if (failed(tensorOf(deduction, operands[0], "x", kind)))
    return failure();
  results.push_back(operands[0].getType());
  return success();
}

LogicalResult relax::deducePredicate(Deduction &deduction, ValueRange operands,
                                     Elements kind,
                                     SmallVectorImpl<Type> &results) {
  if (failed(tensorOf(deduction, operands[0], "x", kind)))
    return failure();
  results.push_back(cast<TensorType>(operands[0].getType())
                        .clone(IntegerType::get(deduction.getContext(), 1)));
  return success();
}

LogicalResult relax::deduceBroadcast(Deduction &deduction,
                                     ArrayRef<Deduction::Tensor> operands,
                                     ArrayRef<StringRef> names,
                                     Type elementType,
                                     SmallVectorImpl<Type> &results) {
  // Ranked operands are checked against each other even if another is not.
  SymDims dims;
  std::string name;
  bool ranked = true;
  for (auto [operand, operandName] : llvm::zip(operands, names)) {
    ranked &= operand.ranked;
    if (!operand.ranked)
      continue;
    if (name.empty()) {
      dims = operand.dims;
      name = operandName.str();
      continue;
    }
    FailureOr<SymDims> both =
        deduction.broadcast(dims, name, operand.dims, operandName);
    if (failed(both))
      return failure();
    dims = *both;
    name += " with " + operandName.str();
  }
  std::optional<ArrayRef<SymExprAttr>> known;
  if (ranked)
    known = dims;
  results.push_back(Deduction::tensorType(known, elementType));
  return success();
}

/// Two operands of the same element type; Boolean results if `predicate`.
static LogicalResult deduceTwo(Deduction &deduction, ValueRange operands,
                               Elements kind, bool predicate,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> lhs =
      tensorOf(deduction, operands[0], "lhs", kind);
  if (failed(lhs))
    return failure();
  FailureOr<Deduction::Tensor> rhs =
      tensorOf(deduction, operands[1], "rhs", kind);
  if (failed(rhs) || failed(deduction.sameElementType(lhs->elementType, "lhs",
                                                      rhs->elementType, "rhs")))
    return failure();
  Type element = predicate ? IntegerType::get(deduction.getContext(), 1)
                           : lhs->elementType;
  return deduceBroadcast(deduction, {*lhs, *rhs}, {"lhs", "rhs"}, element,
                         results);
}

LogicalResult relax::deduceBinary(Deduction &deduction, ValueRange operands,
                                  Elements kind,
                                  SmallVectorImpl<Type> &results) {
  return deduceTwo(deduction, operands, kind, /*predicate=*/false, results);
}

LogicalResult relax::deduceComparison(Deduction &deduction, ValueRange operands,
                                      Elements kind,
                                      SmallVectorImpl<Type> &results) {
  return deduceTwo(deduction, operands, kind, /*predicate=*/true, results);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult relax::deduceReduce(Deduction &deduction,
                                  const Deduction::Tensor &x,
                                  const ReduceOptions &options,
                                  Type elementType,
                                  SmallVectorImpl<Type> &results) {
  if (!x.ranked) {
    // Reducing all axes without keeping them gives a scalar for any rank.
    SymDims scalar;
    std::optional<ArrayRef<SymExprAttr>> dims;
    if (!options.axis && !options.keepdims)
      dims = scalar;
    results.push_back(Deduction::tensorType(dims, elementType));
    return success();
  }
  SmallVector<int64_t> reduced;
  if (options.axis) {
    FailureOr<SmallVector<int64_t>> axes =
        deduction.axes(*options.axis, x.rank(), options.axisName);
    if (failed(axes))
      return failure();
    reduced = *axes;
  } else {
    reduced = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  }
  SymDims dims;
  for (auto [index, dim] : llvm::enumerate(x.dims)) {
    if (!llvm::is_contained(reduced, index)) {
      dims.push_back(dim);
      continue;
    }
    if (options.needsElements && dim &&
        deduction.prover().provedEqual(dim, deduction.constant(0)))
      return deduction.emitError()
             << "dimension " << index << " of x is " << dim.str()
             << ", but a reduction without an identity needs at least 1 "
                "element";
    if (options.keepdims)
      dims.push_back(deduction.constant(1));
  }
  results.push_back(getTensorType(dims, elementType));
  return success();
}
