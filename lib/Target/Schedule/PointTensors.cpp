//===- PointTensors.cpp - elements of tensors at points -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/PointEmitter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

FailureOr<Lanes> PointEmitter::element(Value tensor, ArrayRef<Lanes> index) {
  Key key{{tensor.getAsOpaquePointer(), 0}, {mask.getAsOpaquePointer(), 0}};
  // Values in registers differ by point; others are identified by their index.
  if (auto found = storage.find(tensor); found != storage.end())
    if (!found->second.buffer || found->second.perPoint)
      key.front().second = number(found->second);
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
  if (auto found = storage.find(tensor); found != storage.end())
    return stored(tensor, found->second, index);
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
    // The element is undefined, so any value will do.
    Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
    return Lanes{
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type))};
  }
  if (auto view = dyn_cast<tensor::CastOp>(op))
    return element(view.getSource(), index);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return computed(generic, cast<OpResult>(tensor).getResultNumber(), index);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padded(pad, index);
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return inserted(insertion, index);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return joined(concat, 0, index);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return sliced(slice, index);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapsed(collapse, index);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expanded(expand, index);
  return failure();
}

FailureOr<Lanes> PointEmitter::stored(Value tensor, const Storage &place,
                                      ArrayRef<Lanes> index) {
  if (!place.buffer) {
    auto value = kept.find({tensor.getAsOpaquePointer(), number(place)});
    if (value == kept.end())
      return failure();
    return value->second;
  }
  auto at =
      llvm::map_to_vector(place.dims, [&](unsigned dim) { return index[dim]; });
  if (place.perPoint)
    at.insert(at.begin(), {constant(point)});
  return load(place.buffer, at);
}

FailureOr<Lanes> PointEmitter::computed(linalg::GenericOp generic,
                                        unsigned number,
                                        ArrayRef<Lanes> index) {
  if (generic.getNumReductionLoops())
    return failure();
  AffineMap map =
      generic.getIndexingMapMatchingResult(generic->getResult(number));
  SmallVector<Lanes> loops(generic.getNumLoops());
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = index[dim];
  // A loop that does not appear in the result has one iteration, or any
  // iteration will do.
  for (Lanes &loop : loops)
    if (!loop.value)
      return failure();
  auto results = body(
      generic, loops,
      [&](unsigned input) { return operand(generic, input, loops); },
      /*contract=*/false);
  if (failed(results))
    return failure();
  return (*results)[number];
}

FailureOr<Lanes> PointEmitter::sliced(tensor::ExtractSliceOp slice,
                                      ArrayRef<Lanes> index) {
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

FailureOr<Lanes> PointEmitter::collapsed(tensor::CollapseShapeOp collapse,
                                         ArrayRef<Lanes> index) {
  // Buffers are contiguous, so they can be viewed in the new shape.
  if (auto view =
          collapse.getSrc().getDefiningOp<bufferization::ToTensorOp>()) {
    Value &buffer = views[collapse.getResult()];
    if (!buffer) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(collapse);
      buffer = memref::CollapseShapeOp::create(
          builder, loc, view.getBuffer(), collapse.getReassociationIndices());
    }
    return load(buffer, index);
  }
  SmallVector<Lanes> at(collapse.getSrcType().getRank(), {constant(0)});
  for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
    distribute(index[dim], collapse.getSrc(), group, at);
  return element(collapse.getSrc(), at);
}

void PointEmitter::distribute(Lanes rest, Value source, ArrayRef<int64_t> group,
                              MutableArrayRef<Lanes> at) {
  auto type = cast<RankedTensorType>(source.getType());
  for (int64_t i = group.size() - 1; i > 0; --i) {
    if (type.getDimSize(group[i]) == 1) {
      at[group[i]] = {constant(0)};
      continue;
    }
    // All outer dimensions of the group may have size one.
    bool last = llvm::all_of(ArrayRef(group).take_front(i), [&](int64_t outer) {
      return type.getDimSize(outer) == 1;
    });
    if (last) {
      at[group[i]] = rest;
      rest = {constant(0)};
      continue;
    }
    // Nothing may be divided by a size of 0, even if no lane is active.
    Value extent = size(source, group[i]);
    if (!getConstantIntValue(extent))
      extent = arith::MaxUIOp::create(builder, loc, extent, constant(1));
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

FailureOr<Lanes> PointEmitter::expanded(tensor::ExpandShapeOp expand,
                                        ArrayRef<Lanes> index) {
  SmallVector<Lanes> at;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    Lanes sum{constant(0)};
    for (int64_t dim : group) {
      Value extent = size(expand.getResult(), dim);
      Lanes inner = index[dim];
      if (sum.isVector || inner.isVector || sum.stride) {
        sum = {
            arith::MulIOp::create(builder, loc, vector(sum), vector({extent})),
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

FailureOr<Lanes>
PointEmitter::within(Value source, ArrayRef<OpFoldResult> offsets,
                     const llvm::SmallBitVector &isWhole, ArrayRef<Lanes> index,
                     function_ref<FailureOr<Lanes>()> outside) {
  // Whether the point, or each lane, is inside the source.
  Value isInside, areInside;
  auto require = [&](Value &condition, Value more) {
    condition =
        condition ? arith::AndIOp::create(builder, loc, condition, more) : more;
  };
  SmallVector<Lanes> at;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    if (isWhole.test(dim)) {
      at.push_back(index[dim]);
      continue;
    }
    Value before = getValueOrCreateConstantIndexOp(builder, loc, offset);
    Value extent = size(source, dim);
    Lanes from = index[dim];
    from.value = arith::SubIOp::create(
        builder, loc, from.value, from.isVector ? vector({before}) : before);
    // As unsigned numbers, negative indices are large.
    Value position = from.isUniform() ? from.value : vector(from);
    Value limit = from.isUniform() ? extent : vector({extent});
    require(from.isUniform() ? isInside : areInside,
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  position, limit));
    at.push_back(from);
  }
  bool failed = false;
  auto take = [&](FailureOr<Lanes> value) {
    failed |= mlir::failed(value);
    return failed ? Lanes{} : *value;
  };
  auto inside = [&]() -> Lanes {
    Scope scope(*this);
    Value outer = mask;
    if (areInside)
      mask = mask ? arith::AndIOp::create(builder, loc, mask, areInside)
                  : areInside;
    Lanes value = take(element(source, at));
    mask = outer;
    if (failed || !areInside)
      return value;
    Value others = arith::XOrIOp::create(
        builder, loc, areInside,
        arith::ConstantOp::create(
            builder, loc,
            DenseElementsAttr::get(cast<VectorType>(areInside.getType()),
                                   true)));
    mask = mask ? arith::AndIOp::create(builder, loc, mask, others) : others;
    Lanes other = take(outside());
    mask = outer;
    if (failed)
      return value;
    return {arith::SelectOp::create(builder, loc, areInside, vector(value),
                                    vector(other)),
            0, true};
  };
  if (!isInside) {
    Lanes value = inside();
    return failed ? FailureOr<Lanes>(failure()) : value;
  }
  bool asVector =
      llvm::any_of(index, [](const Lanes &lane) { return !lane.isUniform(); });
  Type type = getElementTypeOrSelf(source.getType());
  if (asVector)
    type = vectorType(type);
  auto branch = scf::IfOp::create(builder, loc, type, isInside,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto yield = [&](Block *block, function_ref<Lanes()> make) {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    Lanes value = make();
    if (!failed)
      scf::YieldOp::create(builder, loc,
                           asVector ? vector(value) : value.value);
  };
  yield(branch.thenBlock(), inside);
  yield(branch.elseBlock(), [&] { return take(outside()); });
  if (failed)
    return failure();
  return Lanes{branch.getResult(0), 0, asVector};
}

FailureOr<Lanes> PointEmitter::padded(tensor::PadOp pad,
                                      ArrayRef<Lanes> index) {
  Value filler = pad.getConstantPaddingValue();
  if (!filler)
    return failure();
  llvm::SmallBitVector isWhole(index.size());
  for (auto [dim, low] : llvm::enumerate(pad.getMixedLowPad()))
    isWhole[dim] = isConstantIntValue(low, 0) &&
                   isConstantIntValue(pad.getMixedHighPad()[dim], 0);
  return within(pad.getSource(), pad.getMixedLowPad(), isWhole, index,
                [&]() -> FailureOr<Lanes> { return Lanes{filler}; });
}

FailureOr<Lanes> PointEmitter::inserted(tensor::InsertSliceOp insertion,
                                        ArrayRef<Lanes> index) {
  RankedTensorType source = insertion.getSourceType(),
                   whole = insertion.getType();
  if (!insertion.hasUnitStride() || source.getRank() != whole.getRank())
    return failure();
  llvm::SmallBitVector isWhole(index.size());
  for (auto [dim, offset] : llvm::enumerate(insertion.getMixedOffsets()))
    isWhole[dim] = isConstantIntValue(offset, 0) && !source.isDynamicDim(dim) &&
                   source.getDimSize(dim) == whole.getDimSize(dim);
  return within(insertion.getSource(), insertion.getMixedOffsets(), isWhole,
                index, [&] { return element(insertion.getDest(), index); });
}

FailureOr<Lanes> PointEmitter::joined(tensor::ConcatOp concat, unsigned first,
                                      ArrayRef<Lanes> index) {
  ValueRange inputs = concat.getInputs();
  uint64_t dim = concat.getDim();
  if (first + 1 == inputs.size())
    return element(inputs[first], index);
  llvm::SmallBitVector isWhole(index.size(), true);
  isWhole.reset(dim);
  SmallVector<OpFoldResult> none(index.size(), builder.getIndexAttr(0));
  return within(inputs[first], none, isWhole, index, [&] {
    SmallVector<Lanes> rest(index);
    Value length = size(inputs[first], dim);
    rest[dim].value =
        arith::SubIOp::create(builder, loc, rest[dim].value,
                              rest[dim].isVector ? vector({length}) : length);
    return joined(concat, first + 1, rest);
  });
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
