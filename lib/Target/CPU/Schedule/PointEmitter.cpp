//===- PointEmitter.cpp - code for elements of tensors --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/Schedule/PointEmitter.h"

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

Value PointEmitter::vector(Lanes value) {
  if (value.isVector)
    return value.value;
  Value all = vector::BroadcastOp::create(
      builder, loc, vectorType(value.value.getType()), value.value);
  if (value.stride == 0)
    return all;
  Value steps =
      vector::StepOp::create(builder, loc, vectorType(builder.getIndexType()));
  if (value.stride != 1) {
    Value stride = vector::BroadcastOp::create(builder, loc, all.getType(),
                                               constant(value.stride));
    steps = arith::MulIOp::create(builder, loc, steps, stride);
  }
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
  // Divisions: by a positive constant.
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
// Memory
//===----------------------------------------------------------------------===//

Value PointEmitter::bytes(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.getElementType().isInteger(1))
    return buffer;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(buffer);
  return UnrealizedConversionCastOp::create(
             builder, loc, type.clone(builder.getI8Type()), buffer)
      .getResult(0);
}

Value PointEmitter::offsets(Value buffer, ArrayRef<Lanes> index) {
  auto type = cast<MemRefType>(buffer.getType());
  Value stride = constant(1);
  Lanes sum{constant(0)};
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    Lanes at = index[dim];
    if (at.isUniform()) {
      Value term = multiply(stride, at.value);
      sum = sum.isVector ? Lanes{arith::AddIOp::create(builder, loc, sum.value,
                                                       vector({term})),
                                 0, true}
                         : Lanes{add(sum.value, term)};
    } else {
      Value term =
          arith::MulIOp::create(builder, loc, vector(at), vector({stride}));
      sum = {arith::AddIOp::create(builder, loc, vector(sum), term), 0, true};
    }
    if (dim)
      stride = multiply(stride, size(buffer, dim));
  }
  return vector(sum);
}

/// Whether lanes lie one after the other.
static bool isContiguous(ArrayRef<Lanes> index) {
  return !index.empty() && !index.back().isVector && index.back().stride == 1 &&
         llvm::all_of(index.drop_back(),
                      [](const Lanes &at) { return at.isUniform(); });
}

FailureOr<Lanes> PointEmitter::load(Value buffer, ArrayRef<Lanes> index) {
  auto type = cast<MemRefType>(buffer.getType());
  auto scalars = llvm::map_to_vector(index, [](Lanes at) { return at.value; });
  if (llvm::all_of(index, [](const Lanes &at) { return at.isUniform(); }))
    return Lanes{memref::LoadOp::create(builder, loc, buffer, scalars)};
  if (!type.getLayout().isIdentity() &&
      !(isContiguous(index) && type.isLastDimUnitStride()))
    return failure();
  buffer = bytes(buffer);
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (element.isIndex())
    return failure();
  VectorType vectors = vectorType(element);
  Value result;
  auto zeros = [&] {
    return arith::ConstantOp::create(builder, loc, vectors,
                                     builder.getZeroAttr(vectors));
  };
  if (isContiguous(index)) {
    if (mask)
      result = vector::MaskedLoadOp::create(builder, loc, vectors, buffer,
                                            scalars, mask, zeros());
    else
      result = vector::LoadOp::create(builder, loc, vectors, buffer, scalars);
  } else {
    Value at = offsets(buffer, index);
    Value on = mask;
    if (!on)
      on = vector::ConstantMaskOp::create(builder, loc,
                                          vectorType(builder.getI1Type()),
                                          ArrayRef<int64_t>{lanes});
    SmallVector<Value> first(type.getRank(), constant(0));
    result = vector::GatherOp::create(builder, loc, vectors, buffer, first, at,
                                      on, zeros());
  }
  if (type.getElementType().isInteger(1))
    result = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                   result, zeros());
  return Lanes{result, 0, true};
}

LogicalResult PointEmitter::store(Lanes value, Value buffer,
                                  ArrayRef<Lanes> index) {
  auto type = cast<MemRefType>(buffer.getType());
  auto scalars = llvm::map_to_vector(index, [](Lanes at) { return at.value; });
  if (llvm::all_of(index, [](const Lanes &at) { return at.isUniform(); })) {
    if (!value.isUniform())
      return failure();
    memref::StoreOp::create(builder, loc, value.value, buffer, scalars);
    return success();
  }
  if (!type.getLayout().isIdentity() &&
      !(isContiguous(index) && type.isLastDimUnitStride()))
    return failure();
  Value all = vector(value);
  buffer = bytes(buffer);
  if (type.getElementType().isInteger(1))
    all = arith::ExtUIOp::create(builder, loc, vectorType(builder.getI8Type()),
                                 all);
  if (type.getElementType().isIndex())
    return failure();
  if (isContiguous(index)) {
    if (mask)
      vector::MaskedStoreOp::create(builder, loc, buffer, scalars, mask, all);
    else
      vector::StoreOp::create(builder, loc, all, buffer, scalars);
    return success();
  }
  Value on = mask;
  if (!on)
    on = vector::ConstantMaskOp::create(builder, loc,
                                        vectorType(builder.getI1Type()),
                                        ArrayRef<int64_t>{lanes});
  SmallVector<Value> first(type.getRank(), constant(0));
  vector::ScatterOp::create(builder, loc, Type(), buffer, first,
                            offsets(buffer, index), on, all);
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

FailureOr<Lanes> PointEmitter::element(Value tensor, ArrayRef<Lanes> index) {
  Key key{{tensor.getAsOpaquePointer(), point}, {mask.getAsOpaquePointer(), 0}};
  // Values in registers differ from point to point; others by their index.
  if (!storage.count(tensor) || storage[tensor].buffer)
    key.front().second = 0;
  for (Lanes at : index)
    key.emplace_back(at.value.getAsOpaquePointer(),
                     at.stride * 2 + at.isVector);
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  FailureOr<Lanes> value = compute(tensor, index);
  if (succeeded(value) && !scopes.empty())
    scopes.back()[key] = *value;
  return value;
}

FailureOr<Lanes> PointEmitter::compute(Value tensor, ArrayRef<Lanes> index) {
  if (auto found = storage.find(tensor); found != storage.end()) {
    const Storage &place = found->second;
    if (!place.buffer) {
      auto value = kept.find({tensor.getAsOpaquePointer(), point});
      if (value == kept.end())
        return failure();
      return value->second;
    }
    auto at = llvm::map_to_vector(place.dims,
                                  [&](unsigned dim) { return index[dim]; });
    return load(place.buffer, at);
  }
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements))) {
    if (!elements.isSplat())
      return failure();
    return Lanes{arith::ConstantOp::create(
        builder, loc, elements.getSplatValue<TypedAttr>())};
  }
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return failure();
  if (auto view = dyn_cast<bufferization::ToTensorOp>(op))
    return load(view.getBuffer(), index);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return Lanes{fill.getInputs().front()};
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return Lanes{splat.getInput()};
  if (isa<tensor::EmptyOp>(op)) {
    // Nothing is known of it: anything will do.
    Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
    return Lanes{
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type))};
  }
  if (auto view = dyn_cast<tensor::CastOp>(op))
    return element(view.getSource(), index);
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumReductionLoops())
      return failure();
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    AffineMap map =
        generic.getIndexingMapMatchingResult(generic->getResult(number));
    SmallVector<Lanes> loops(generic.getNumLoops());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index[dim];
    // A loop that the result does not show has one iteration, or any will do.
    for (Lanes &loop : loops)
      if (!loop.value)
        return failure();
    auto results = body(
        generic, loops,
        [&](unsigned number) { return operand(generic, number, loops); },
        /*contract=*/false);
    if (failed(results))
      return failure();
    return (*results)[number];
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padded(pad, index);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<Lanes> at;
    unsigned next = 0;
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      Value start = getValueOrCreateConstantIndexOp(builder, loc, offset);
      if (dropped.test(dim)) {
        at.push_back({start});
        continue;
      }
      Lanes from = index[next++];
      std::optional<int64_t> stride =
          getConstantIntValue(slice.getMixedStrides()[dim]);
      if (!stride)
        return failure();
      if (*stride != 1) {
        if (from.isVector)
          return failure();
        from = {multiply(from.value, constant(*stride)), from.stride * *stride};
      }
      at.push_back(from.isVector
                       ? Lanes{arith::AddIOp::create(builder, loc, from.value,
                                                     vector({start})),
                               0, true}
                       : Lanes{add(from.value, start), from.stride});
    }
    return element(slice.getSource(), at);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    // Memory has no gaps: a buffer may be looked at in the new shape.
    if (auto view =
            collapse.getSrc().getDefiningOp<bufferization::ToTensorOp>()) {
      Value &buffer = views[tensor];
      if (!buffer) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(collapse);
        buffer = memref::CollapseShapeOp::create(
            builder, loc, view.getBuffer(), collapse.getReassociationIndices());
      }
      return load(buffer, index);
    }
    // The inner dimension of a group takes what is left of an index.
    SmallVector<Lanes> at(collapse.getSrcType().getRank());
    for (auto [dim, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      Lanes rest = index[dim];
      for (int64_t i = group.size() - 1; i > 0; --i) {
        if (collapse.getSrcType().getDimSize(group[i]) == 1) {
          at[group[i]] = {constant(0)};
          continue;
        }
        // All outer dimensions of the group may be of size one.
        bool last =
            llvm::all_of(ArrayRef(group).take_front(i), [&](int64_t outer) {
              return collapse.getSrcType().getDimSize(outer) == 1;
            });
        if (last) {
          at[group[i]] = rest;
          rest = {constant(0)};
          continue;
        }
        Value extent = size(collapse.getSrc(), group[i]);
        Value whole = rest.isUniform() ? rest.value : vector(rest);
        Value by = rest.isUniform() ? extent : vector({extent});
        at[group[i]] = {arith::RemUIOp::create(builder, loc, whole, by), 0,
                        !rest.isUniform()};
        rest = {arith::DivUIOp::create(builder, loc, whole, by), 0,
                !rest.isUniform()};
      }
      if (!group.empty())
        at[group[0]] = rest;
    }
    return element(collapse.getSrc(), at);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<Lanes> at;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Lanes sum{constant(0)};
      for (int64_t dim : group) {
        Value extent = size(tensor, dim);
        Lanes inner = index[dim];
        if (sum.isVector || inner.isVector || sum.stride) {
          sum = {arith::MulIOp::create(builder, loc, vector(sum),
                                       vector({extent})),
                 0, true};
          sum.value =
              arith::AddIOp::create(builder, loc, sum.value, vector(inner));
        } else {
          sum = {add(multiply(sum.value, extent), inner.value), inner.stride};
        }
      }
      at.push_back(sum);
    }
    return element(expand.getSrc(), at);
  }
  return failure();
}

FailureOr<Lanes> PointEmitter::padded(tensor::PadOp pad,
                                      ArrayRef<Lanes> index) {
  Value filler = pad.getConstantPaddingValue();
  if (!filler)
    return failure();
  // Whether the point, or each lane of it, is in the source.
  Value isInside, areInside;
  auto require = [&](Value &condition, Value more) {
    condition =
        condition ? arith::AndIOp::create(builder, loc, condition, more) : more;
  };
  SmallVector<Lanes> at;
  for (auto [dim, low] : llvm::enumerate(pad.getMixedLowPad())) {
    if (isConstantIntValue(low, 0) &&
        isConstantIntValue(pad.getMixedHighPad()[dim], 0)) {
      at.push_back(index[dim]);
      continue;
    }
    Value before = getValueOrCreateConstantIndexOp(builder, loc, low);
    Value extent = size(pad.getSource(), dim);
    Lanes from = index[dim];
    from.value = arith::SubIOp::create(
        builder, loc, from.value, from.isVector ? vector({before}) : before);
    // Below zero is far above as an unsigned number.
    Value position = from.isUniform() ? from.value : vector(from);
    Value limit = from.isUniform() ? extent : vector({extent});
    require(from.isUniform() ? isInside : areInside,
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  position, limit));
    at.push_back(from);
  }
  bool asVector =
      llvm::any_of(index, [](const Lanes &lane) { return !lane.isUniform(); });
  bool failed = false;
  auto inside = [&]() -> Lanes {
    Scope scope(*this);
    Value outer = mask;
    if (areInside)
      mask = mask ? arith::AndIOp::create(builder, loc, mask, areInside)
                  : areInside;
    FailureOr<Lanes> value = element(pad.getSource(), at);
    mask = outer;
    if (mlir::failed(value)) {
      failed = true;
      return {filler};
    }
    if (!areInside)
      return *value;
    return {arith::SelectOp::create(builder, loc, areInside, vector(*value),
                                    vector({filler})),
            0, true};
  };
  if (!isInside) {
    Lanes value = inside();
    return failed ? FailureOr<Lanes>(failure()) : value;
  }
  Type type = filler.getType();
  if (asVector)
    type = vectorType(type);
  auto branch = scf::IfOp::create(builder, loc, type, isInside,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Lanes value = inside();
  scf::YieldOp::create(builder, loc, asVector ? vector(value) : value.value);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, asVector ? vector({filler}) : filler);
  if (failed)
    return failure();
  return Lanes{branch.getResult(0), 0, asVector};
}

FailureOr<Lanes> PointEmitter::operand(linalg::GenericOp op, unsigned number,
                                       ArrayRef<Lanes> loops) {
  OpOperand &operand = op->getOpOperand(number);
  if (!isa<RankedTensorType>(operand.get().getType()))
    return Lanes{operand.get()};
  FailureOr<SmallVector<Lanes>> index =
      apply(op.getMatchingIndexingMap(&operand), loops);
  if (failed(index))
    return failure();
  return element(operand.get(), *index);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Lanes PointEmitter::lookup(Value value, DenseMap<Value, Lanes> &values) {
  auto found = values.find(value);
  return found == values.end() ? Lanes{value} : found->second;
}

/// What a lane that is off must not do.
static bool canTrap(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
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
    // What regions capture: scalars alone.
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
  // Arithmetic on indices that grow from lane to lane.
  if (op.getNumOperands() == 2 && op.getResult(0).getType().isIndex()) {
    Lanes lhs = lookup(op.getOperand(0), values);
    Lanes rhs = lookup(op.getOperand(1), values);
    if (!lhs.isVector && !rhs.isVector) {
      if (isa<arith::AddIOp>(op))
        return Lanes{add(lhs.value, rhs.value), lhs.stride + rhs.stride};
      if (isa<arith::SubIOp>(op))
        return Lanes{
            builder.createOrFold<arith::SubIOp>(loc, lhs.value, rhs.value),
            lhs.stride - rhs.stride};
      std::optional<int64_t> factor = getConstantIntValue(rhs.value);
      if (isa<arith::MulIOp>(op) && factor && rhs.stride == 0)
        return Lanes{multiply(lhs.value, rhs.value), lhs.stride * *factor};
    }
  }
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
