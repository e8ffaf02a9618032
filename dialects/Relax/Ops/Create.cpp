//===- Create.cpp - creation of tensors -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Create.h"
#include "Relax/Rules.h"
#include "Relax/SymDirectives.h"

using namespace mlir;
using namespace mlir::relax;

/// The rule of `tril` and `triu`.
static LogicalResult deduceTriangle(Deduction &deduction, ValueRange operands,
                                    SmallVectorImpl<Type> &results);

#define GET_OP_CLASSES
#include "Relax/Ops/Create.cpp.inc"

void RelaxDialect::registerCreateOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Create.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Tensors filled with one value
//===----------------------------------------------------------------------===//

/// A tensor with the shape given by the value `shape`.
static LogicalResult deduceOfShape(Deduction &deduction, Value shape,
                                   Type dtype, SmallVectorImpl<Type> &results) {
  FailureOr<ShapeType> type = deduction.shape(shape, "shape");
  FailureOr<Type> element = elementTypeAttr(deduction, dtype);
  if (failed(type) || failed(element))
    return failure();
  std::optional<ArrayRef<SymExprAttr>> dims;
  if (type->getRanked())
    dims = type->getDims();
  results.push_back(Deduction::tensorType(dims, *element));
  return success();
}

/// A tensor of the shape of `x`.
static LogicalResult deduceLike(Deduction &deduction, Value x,
                                std::optional<Type> dtype,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> tensor =
      tensorOf(deduction, x, "x", Elements::Any);
  if (failed(tensor))
    return failure();
  FailureOr<Type> element =
      elementTypeAttr(deduction, dtype.value_or(tensor->elementType));
  if (failed(element))
    return failure();
  results.push_back(cast<TensorType>(x.getType()).clone(*element));
  return success();
}

static FailureOr<Deduction::Tensor> fillValue(Deduction &deduction,
                                              Value value) {
  FailureOr<Deduction::Tensor> fill =
      tensorOf(deduction, value, "fill_value", Elements::Any);
  if (failed(fill) || failed(requireRank(deduction, *fill, "fill_value", 0)))
    return failure();
  return fill;
}

LogicalResult FullOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> fill = fillValue(deduction, op.getFillValue());
  if (failed(fill))
    return failure();
  return deduceOfShape(deduction, op.getShape(),
                       op.getDtype().value_or(fill->elementType), results);
}

LogicalResult ZerosOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  return deduceOfShape(deduction, op.getShape(), op.getDtype(), results);
}

LogicalResult OnesOp::deduce(Deduction &deduction, Adaptor op,
                             SmallVectorImpl<Type> &results) {
  return deduceOfShape(deduction, op.getShape(), op.getDtype(), results);
}

LogicalResult FullLikeOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  if (failed(fillValue(deduction, op.getFillValue())))
    return failure();
  return deduceLike(deduction, op.getX(), op.getDtype(), results);
}

LogicalResult ZerosLikeOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  return deduceLike(deduction, op.getX(), op.getDtype(), results);
}

LogicalResult OnesLikeOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  return deduceLike(deduction, op.getX(), op.getDtype(), results);
}

//===----------------------------------------------------------------------===//
// ArangeOp
//===----------------------------------------------------------------------===//

/// The number of steps between `start` and `stop`, negative if they are in the
/// opposite order; null if the sign of the step is unknown.
static SymExprAttr countSteps(SymBuilder &math, const Prover &prover,
                              SymExprAttr start, SymExprAttr stop,
                              SymExprAttr step) {
  SymExprAttr zero = math.constant(0);
  if (prover.less(zero, step) == Truth::Yes)
    return math.ceildiv(math.sub(stop, start), step);
  if (prover.less(step, zero) == Truth::Yes)
    return math.ceildiv(math.sub(start, stop), math.neg(step));
  return {};
}

LogicalResult ArangeOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  FailureOr<Type> dtype = elementTypeAttr(deduction, op.getDtype());
  if (failed(dtype))
    return failure();
  const Prover &prover = deduction.prover();
  SymExprAttr zero = deduction.constant(0);
  if (prover.equal(op.getStep(), zero) == Truth::Yes)
    return deduction.emitError() << "step must not be 0";
  SymExprAttr count = countSteps(deduction.math(), prover, op.getStart(),
                                 op.getStop(), op.getStep());
  // Must be provable both with and without the function's facts: MLIR also
  // verifies deduced types without the function.
  Prover alone(zero.getContext(), SymbolFacts());
  if (count && (prover.lessEqual(zero, count) != Truth::Yes ||
                alone.lessEqual(zero, count) != Truth::Yes))
    count = deduction.math().max({count, zero});
  results.push_back(getTensorType(count, *dtype));
  return success();
}

LogicalResult ArangeOp::verify() {
  // The rule of an op without operands sees no function, so it assumes
  // non-negative symbols. Compare again under the declared ranges.
  Prover prover(getContext(), SymbolFacts::at(*this));
  SymBuilder math(getContext());
  SymExprAttr zero = math.constant(0);
  SymExprAttr count =
      countSteps(math, prover, getStart(), getStop(), getStep());
  if (math.failed() || prover.equal(getStep(), zero) == Truth::Yes)
    return success(); // the rule reports it
  if (prover.lessEqual(zero, count) != Truth::Yes)
    count = math.max({count, zero});
  Type deduced =
      getTensorType(count, cast<TensorType>(getType()).getElementType());
  Truth truth = implies(deduced, getType(), prover);
  if (truth == Truth::Yes)
    return success();
  return emitOpError() << "result #0 is declared as " << getType() << ", but "
                       << (truth == Truth::Unknown ? "only " : "") << deduced
                       << (truth == Truth::Unknown ? " can be" : " is")
                       << " deduced";
}

//===----------------------------------------------------------------------===//
// Other patterns
//===----------------------------------------------------------------------===//

LogicalResult EyeOp::deduce(Deduction &deduction, Adaptor op,
                            SmallVectorImpl<Type> &results) {
  FailureOr<Type> dtype = elementTypeAttr(deduction, op.getDtype());
  if (failed(dtype))
    return failure();
  for (auto [size, name] :
       {std::pair(op.getN(), "n"), std::pair(op.getM(), "m")})
    if (deduction.prover().less(size, deduction.constant(0)) == Truth::Yes)
      return deduction.emitError()
             << name << " must not be negative, got " << size.str();
  results.push_back(getTensorType({op.getN(), op.getM()}, *dtype));
  return success();
}

static LogicalResult deduceTriangle(Deduction &deduction, ValueRange operands,
                                    SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x =
      tensorOf(deduction, operands[0], "x", Elements::Any);
  if (failed(x))
    return failure();
  if (x->ranked && x->rank() < 2)
    return deduction.emitError()
           << "x must have rank 2 or more, got rank " << x->rank();
  results.push_back(operands[0].getType());
  return success();
}

LogicalResult MeshgridOp::deduce(Deduction &deduction, Adaptor op,
                                 SmallVectorImpl<Type> &results) {
  StringRef indexing = op.getIndexing();
  if (indexing != "ij" && indexing != "xy")
    return deduction.emitError()
           << "indexing must be \"ij\" or \"xy\", got \"" << indexing << "\"";
  SymDims dims;
  SmallVector<Type> elements;
  for (auto [index, value] : llvm::enumerate(op.getTensors())) {
    std::string name = "tensor " + std::to_string(index);
    FailureOr<Deduction::Tensor> tensor =
        tensorOf(deduction, value, name, Elements::Any);
    if (failed(tensor))
      return failure();
    if (tensor->ranked && tensor->rank() > 1)
      return deduction.emitError()
             << name << " must have rank 0 or 1, got rank " << tensor->rank();
    elements.push_back(tensor->elementType);
    if (!tensor->ranked)
      dims.push_back({});
    else
      dims.push_back(tensor->dims.empty() ? deduction.constant(1)
                                          : tensor->dims.front());
  }
  if (indexing == "xy" && dims.size() > 1)
    std::swap(dims[0], dims[1]);
  for (Type element : elements)
    results.push_back(getTensorType(dims, element));
  return success();
}
