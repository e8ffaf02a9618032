//===- PointEmitter.cpp - code for elements of tensors --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/PointEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

Value PointEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value PointEmitter::add(Value lhs, Value rhs) {
  if (matchPattern(lhs, m_Zero()))
    return rhs;
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value PointEmitter::multiply(Value lhs, Value rhs) {
  if (matchPattern(lhs, m_One()))
    return rhs;
  return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}

Value PointEmitter::size(Value shaped, unsigned dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  Operation *op = shaped.getDefiningOp();
  if (auto cast = dyn_cast_if_present<tensor::CastOp>(op))
    return size(cast.getSource(), dim);
  if (auto view = dyn_cast_if_present<bufferization::ToTensorOp>(op))
    return size(view.getBuffer(), dim);
  if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(op))
    return empty.getDynamicSize(dim);
  if (auto style = dyn_cast_if_present<DestinationStyleOpInterface>(op))
    return size(style.getTiedOpOperand(cast<OpResult>(shaped))->get(), dim);
  if (auto expand = dyn_cast_if_present<tensor::ExpandShapeOp>(op))
    return getValueOrCreateConstantIndexOp(builder, loc,
                                           expand.getMixedOutputShape()[dim]);
  if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(op))
    if (llvm::SmallBitVector dropped = slice.getDroppedDims(); dropped.none())
      return getValueOrCreateConstantIndexOp(builder, loc,
                                             slice.getMixedSizes()[dim]);
  if (auto pad = dyn_cast_if_present<tensor::PadOp>(op)) {
    Value sum = size(pad.getSource(), dim);
    for (OpFoldResult more :
         {pad.getMixedLowPad()[dim], pad.getMixedHighPad()[dim]})
      sum = add(sum, getValueOrCreateConstantIndexOp(builder, loc, more));
    return sum;
  }
  if (auto concat = dyn_cast_if_present<tensor::ConcatOp>(op)) {
    if (dim != concat.getDim())
      return size(concat.getInputs().front(), dim);
    Value sum = constant(0);
    for (Value input : concat.getInputs())
      sum = add(sum, size(input, dim));
    return sum;
  }
  if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(op)) {
    Value product = constant(1);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t from : group)
      product = multiply(product, size(collapse.getSrc(), from));
    return product;
  }
  if (isa<MemRefType>(type))
    return memref::DimOp::create(builder, loc, shaped, dim);
  return tensor::DimOp::create(builder, loc, shaped, dim);
}

FailureOr<DenseMap<Axis, Value>> PointEmitter::sizes(const Nest &nest) {
  DenseMap<Axis, Value> sizes;
  for (const Stage &stage : nest.stages)
    for (auto [number, axis] : llvm::enumerate(stage.axes)) {
      for (OpOperand &operand : stage.op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type)
          continue;
        AffineMap map = stage.op.getMatchingIndexingMap(&operand);
        for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
          auto at = dyn_cast<AffineDimExpr>(expr);
          if (!at || at.getPosition() != number)
            continue;
          if (!sizes.count(axis) || !type.isDynamicDim(dim))
            sizes[axis] = size(operand.get(), dim);
        }
      }
      if (!sizes.count(axis))
        return failure();
    }
  return sizes;
}

SmallVector<Value>
PointEmitter::loop(Value from, Value to, Value step, ValueRange inits,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, from, to, step, inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    builder.setInsertionPoint(op.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(op.getBody());
  Scope scope(*this);
  SmallVector<Value> next =
      body(op.getInductionVar(), ValueRange(op.getRegionIterArgs()));
  if (!inits.empty())
    scf::YieldOp::create(builder, loc, next);
  return op.getResults();
}

Value PointEmitter::vector(Lanes value) {
  if (value.isVector)
    return value.value;
  Value all = vector::BroadcastOp::create(
      builder, loc, vectorType(value.value.getType()), value.value);
  if (value.stride == 0)
    return all;
  // `vector.step` cannot be lowered for GPUs.
  auto type = vectorType(builder.getIndexType());
  SmallVector<Attribute> offsets;
  for (int64_t lane = 0; lane < lanes; ++lane)
    offsets.push_back(builder.getIndexAttr(lane * value.stride));
  Value steps = arith::ConstantOp::create(
      builder, loc, type, DenseElementsAttr::get(type, offsets));
  return arith::AddIOp::create(builder, loc, all, steps);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

FailureOr<Lanes> PointEmitter::apply(AffineExpr expr, ArrayRef<Lanes> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return Lanes{constant(value.getValue())};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  FailureOr<Lanes> lhs = apply(binary.getLHS(), dims);
  FailureOr<Lanes> rhs = apply(binary.getRHS(), dims);
  if (failed(lhs) || failed(rhs))
    return failure();
  bool isVector = lhs->isVector || rhs->isVector;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    if (!isVector)
      return Lanes{add(lhs->value, rhs->value), lhs->stride + rhs->stride};
    return Lanes{
        arith::AddIOp::create(builder, loc, vector(*lhs), vector(*rhs)), 0,
        true};
  case AffineExprKind::Mul: {
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!isVector && factor)
      return Lanes{multiply(lhs->value, rhs->value),
                   lhs->stride * factor.getValue()};
    return Lanes{
        arith::MulIOp::create(builder, loc, vector(*lhs), vector(*rhs)), 0,
        true};
  }
  default:
    break;
  }
  // Division by a positive constant.
  bool uniform = lhs->isUniform() && rhs->isUniform();
  Value a = uniform ? lhs->value : vector(*lhs);
  Value b = uniform ? rhs->value : vector(*rhs);
  Value result;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    result = arith::FloorDivSIOp::create(builder, loc, a, b);
  else if (expr.getKind() == AffineExprKind::CeilDiv)
    result = arith::CeilDivSIOp::create(builder, loc, a, b);
  else {
    Value floor = arith::FloorDivSIOp::create(builder, loc, a, b);
    Value whole = arith::MulIOp::create(builder, loc, floor, b);
    result = arith::SubIOp::create(builder, loc, a, whole);
  }
  return Lanes{result, 0, !uniform};
}

FailureOr<SmallVector<Lanes>> PointEmitter::apply(AffineMap map,
                                                  ArrayRef<Lanes> dims) {
  SmallVector<Lanes> results;
  for (AffineExpr expr : map.getResults()) {
    FailureOr<Lanes> value = apply(expr, dims);
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Lanes PointEmitter::lookup(Value value, DenseMap<Value, Lanes> &values) {
  auto found = values.find(value);
  return found == values.end() ? Lanes{value} : found->second;
}

/// Ops that masked lanes must not execute.
static bool canTrap(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

std::optional<Lanes> PointEmitter::ofIndices(Operation &op,
                                             DenseMap<Value, Lanes> &values) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Lanes condition = lookup(select.getCondition(), values);
    Lanes lhs = lookup(select.getTrueValue(), values);
    Lanes rhs = lookup(select.getFalseValue(), values);
    if (!condition.isUniform() || lhs.isVector || rhs.isVector ||
        lhs.stride != rhs.stride)
      return std::nullopt;
    return Lanes{arith::SelectOp::create(builder, loc, condition.value,
                                         lhs.value, rhs.value),
                 lhs.stride};
  }
  if (op.getNumOperands() != 2 || !op.getOperand(0).getType().isIndex())
    return std::nullopt;
  Lanes lhs = lookup(op.getOperand(0), values);
  Lanes rhs = lookup(op.getOperand(1), values);
  if (lhs.isVector || rhs.isVector)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Lanes{add(lhs.value, rhs.value), lhs.stride + rhs.stride};
  if (isa<arith::SubIOp>(op))
    return Lanes{builder.createOrFold<arith::SubIOp>(loc, lhs.value, rhs.value),
                 lhs.stride - rhs.stride};
  std::optional<int64_t> factor = getConstantIntValue(rhs.value);
  if (isa<arith::MulIOp>(op) && factor && rhs.stride == 0)
    return Lanes{multiply(lhs.value, rhs.value), lhs.stride * *factor};
  // `lanes` consecutive indices from a multiple of `lanes` are either all below
  // another multiple or all above.
  auto compare = dyn_cast<arith::CmpIOp>(op);
  using Predicate = arith::CmpIPredicate;
  if (compare && lhs.stride == 1 && rhs.stride == 0 &&
      llvm::is_contained(
          {Predicate::ult, Predicate::uge, Predicate::slt, Predicate::sge},
          compare.getPredicate()) &&
      isMultiple(lhs.value, lanes) && isMultiple(rhs.value, lanes))
    return Lanes{arith::CmpIOp::create(builder, loc, compare.getPredicate(),
                                       lhs.value, rhs.value)};
  return std::nullopt;
}

FailureOr<Lanes> PointEmitter::clone(Operation &op, IRMapping &uniform,
                                     DenseMap<Value, Lanes> &values,
                                     bool contract) {
  bool allUniform = true;
  for (Value operand : op.getOperands()) {
    Lanes value = lookup(operand, values);
    allUniform &= value.isUniform();
    uniform.map(operand, value.value);
  }
  if (op.getNumRegions()) {
    // Regions may only capture scalars.
    WalkResult walk = op.walk([&](Operation *inner) {
      if (isa<linalg::IndexOp, tensor::ExtractOp>(inner))
        return WalkResult::interrupt();
      for (Value operand : inner->getOperands()) {
        if (isa<TensorType>(operand.getType()))
          return WalkResult::interrupt();
        if (op.isProperAncestor(operand.getParentBlock()->getParentOp()) ||
            operand.getParentBlock()->getParentOp() == &op)
          continue;
        Lanes value = lookup(operand, values);
        allUniform &= value.isUniform();
        uniform.map(operand, value.value);
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  auto allow = [&](Operation *copy) {
    if (contract && isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(copy))
      copy->setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(
                        builder.getContext(), arith::FastMathFlags::contract));
  };
  if (allUniform) {
    Operation *copy = builder.clone(op, uniform);
    allow(copy);
    if (copy->getNumResults() != 1)
      return failure();
    return Lanes{copy->getResult(0)};
  }
  if (std::optional<Lanes> result = ofIndices(op, values))
    return *result;
  if (op.getNumRegions() || op.getNumResults() != 1 ||
      !OpTrait::hasElementwiseMappableTraits(&op))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(vector(lookup(operand, values)));
  if (mask && canTrap(op)) {
    VectorType type = cast<VectorType>(operands[1].getType());
    Value one = arith::ConstantOp::create(
        builder, loc, type,
        DenseElementsAttr::get(
            type, builder.getIntegerAttr(type.getElementType(), 1)));
    operands[1] = arith::SelectOp::create(builder, loc, mask, operands[1], one);
  }
  Operation *copy =
      builder.create(loc, op.getName().getIdentifier(), operands,
                     {vectorType(op.getResult(0).getType())}, op.getAttrs());
  allow(copy);
  return Lanes{copy->getResult(0), 0, true};
}

FailureOr<SmallVector<Lanes>>
PointEmitter::body(linalg::GenericOp op, ArrayRef<Lanes> loops,
                   function_ref<FailureOr<Lanes>(unsigned)> operand,
                   bool contract) {
  Block *block = op.getBody();
  DenseMap<Value, Lanes> values;
  IRMapping uniform;
  for (BlockArgument argument : block->getArguments()) {
    if (argument.use_empty())
      continue;
    FailureOr<Lanes> value = operand(argument.getArgNumber());
    if (failed(value))
      return failure();
    values[argument] = *value;
  }
  for (Operation &inner : block->without_terminator()) {
    FailureOr<Lanes> value;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      value = loops[index.getDim()];
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      auto at = llvm::map_to_vector(extract.getIndices(), [&](Value index) {
        return lookup(index, values);
      });
      value = element(extract.getTensor(), at);
    } else if (auto dim = dyn_cast<tensor::DimOp>(inner)) {
      std::optional<int64_t> number = dim.getConstantIndex();
      if (!number)
        return failure();
      value = Lanes{size(dim.getSource(), *number)};
    } else {
      value = clone(inner, uniform, values, contract);
    }
    if (failed(value))
      return failure();
    values[inner.getResult(0)] = *value;
  }
  return llvm::map_to_vector(
      block->getTerminator()->getOperands(),
      [&](Value yielded) { return lookup(yielded, values); });
}
