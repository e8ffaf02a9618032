//===- PointMemory.cpp - memory and tensor ops of points ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/PointEmitter.h"

#include "Target/Common/Booleans.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

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

Value PointEmitter::lanesOn() {
  if (mask)
    return mask;
  return vector::ConstantMaskOp::create(
      builder, loc, vectorType(builder.getI1Type()), ArrayRef<int64_t>{lanes});
}

/// Whether the lanes are elements along the last dimension, `stride` apart.
static bool isStrided(ArrayRef<Lanes> index, int64_t stride) {
  return !index.empty() && !index.back().isVector &&
         index.back().stride == stride &&
         llvm::all_of(index.drop_back(),
                      [](const Lanes &at) { return at.isUniform(); });
}

/// Whether the lanes are consecutive elements.
static bool isContiguous(ArrayRef<Lanes> index) { return isStrided(index, 1); }

Value PointEmitter::loadEverySecond(Value buffer, ArrayRef<Value> first,
                                    VectorType vectors) {
  // The second vector ends at the last element that is needed: later ones may
  // be outside of the buffer.
  SmallVector<Value> second(first);
  second.back() = add(second.back(), constant(lanes - 1));
  auto zeros = [&](VectorType type) -> Value {
    return arith::ConstantOp::create(builder, loc, type,
                                     builder.getZeroAttr(type));
  };
  // Loads a vector from `at`, whose elements `element`, `element + 2`, ... are
  // for the lanes from `lane` on; those of masked lanes may be outside, too.
  auto half = [&](ArrayRef<Value> at, int64_t lane, int64_t element) -> Value {
    if (!mask)
      return vector::LoadOp::create(builder, loc, vectors, buffer, at);
    SmallVector<int64_t> places(lanes, lanes); // a zero
    for (; element < lanes; element += 2)
      places[element] = lane++;
    Value needed = vector::ShuffleOp::create(
        builder, loc, mask, zeros(cast<VectorType>(mask.getType())), places);
    return vector::MaskedLoadOp::create(builder, loc, vectors, buffer, at,
                                        needed, zeros(vectors));
  };
  Value halves[] = {half(first, 0, 0), half(second, lanes / 2, 1)};
  auto places = llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) {
    return 2 * lane < lanes ? 2 * lane : 2 * lane + 1;
  });
  return vector::ShuffleOp::create(builder, loc, halves[0], halves[1], places);
}

bool PointEmitter::isMultiple(Value value, int64_t factor) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return *number % factor == 0;
  auto both = [&](Value lhs, Value rhs) {
    return isMultiple(lhs, factor) && isMultiple(rhs, factor);
  };
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return both(sum.getLhs(), sum.getRhs());
  if (auto difference = value.getDefiningOp<arith::SubIOp>())
    return both(difference.getLhs(), difference.getRhs());
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return both(select.getTrueValue(), select.getFalseValue());
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return isMultiple(product.getLhs(), factor) ||
           isMultiple(product.getRhs(), factor);
  return false;
}

llvm::MaybeAlign PointEmitter::alignment(MemRefType type,
                                         ArrayRef<Lanes> index) const {
  int64_t bytes = type.getElementTypeBitWidth() / 8 * lanes;
  if (!alignedBuffers || type.getMemorySpace() ||
      !type.getLayout().isIdentity() || !llvm::isPowerOf2_64(bytes) ||
      !isMultiple(index.back().value, lanes))
    return std::nullopt;
  // All rows must consist of whole vectors.
  if (type.getRank() > 1 &&
      (type.isDynamicDim(type.getRank() - 1) || type.getShape().back() % lanes))
    return std::nullopt;
  return llvm::Align(std::min<int64_t>(bytes, 16));
}

FailureOr<Lanes> PointEmitter::load(Value buffer, ArrayRef<Lanes> index) {
  auto type = cast<MemRefType>(buffer.getType());
  auto scalars = llvm::map_to_vector(index, [](Lanes at) { return at.value; });
  if (llvm::all_of(index, [](const Lanes &at) { return at.isUniform(); }))
    return Lanes{memref::LoadOp::create(builder, loc, buffer, scalars)};
  if ((!gathers || !type.getLayout().isIdentity()) &&
      !(isContiguous(index) && type.isLastDimUnitStride()))
    return failure();
  buffer = bytesOfBooleans(builder, loc, buffer);
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
      result = vector::LoadOp::create(
          builder, loc, vectors, buffer, scalars, /*nontemporal=*/false,
          alignment(cast<MemRefType>(buffer.getType()), index));
  } else if (lanes > 1 && isStrided(index, 2) && type.isLastDimUnitStride()) {
    result = loadEverySecond(buffer, scalars, vectors);
  } else {
    Value at = offsets(buffer, index);
    SmallVector<Value> first(type.getRank(), constant(0));
    result = vector::GatherOp::create(builder, loc, vectors, buffer, first, at,
                                      lanesOn(), zeros());
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
  buffer = bytesOfBooleans(builder, loc, buffer);
  if (type.getElementType().isInteger(1))
    all = arith::ExtUIOp::create(builder, loc, vectorType(builder.getI8Type()),
                                 all);
  if (type.getElementType().isIndex())
    return failure();
  if (isContiguous(index)) {
    if (mask)
      vector::MaskedStoreOp::create(builder, loc, buffer, scalars, mask, all);
    else
      vector::StoreOp::create(
          builder, loc, all, buffer, scalars, /*nontemporal=*/false,
          alignment(cast<MemRefType>(buffer.getType()), index));
    return success();
  }
  SmallVector<Value> first(type.getRank(), constant(0));
  vector::ScatterOp::create(builder, loc, Type(), buffer, first,
                            offsets(buffer, index), lanesOn(), all);
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

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
  if (auto found = storage.find(tensor); found != storage.end()) {
    const Storage &place = found->second;
    if (!place.buffer) {
      auto value = kept.find({tensor.getAsOpaquePointer(), number(place)});
      if (value == kept.end())
        return failure();
      return value->second;
    }
    auto at = llvm::map_to_vector(place.dims,
                                  [&](unsigned dim) { return index[dim]; });
    if (place.perPoint)
      at.insert(at.begin(), {constant(point)});
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
    // The element is undefined, so any value will do.
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
    // A loop that does not appear in the result has one iteration, or any
    // iteration will do.
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
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return inserted(insertion, index);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return joined(concat, 0, index);
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
    // Buffers are contiguous, so they can be viewed in the new shape.
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
    // The innermost dimension of a group gets the rest of the index.
    SmallVector<Lanes> at(collapse.getSrcType().getRank(), {constant(0)});
    for (auto [dim, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      Lanes rest = index[dim];
      for (int64_t i = group.size() - 1; i > 0; --i) {
        if (collapse.getSrcType().getDimSize(group[i]) == 1) {
          at[group[i]] = {constant(0)};
          continue;
        }
        // All outer dimensions of the group may have size one.
        bool last =
            llvm::all_of(ArrayRef(group).take_front(i), [&](int64_t outer) {
              return collapse.getSrcType().getDimSize(outer) == 1;
            });
        if (last) {
          at[group[i]] = rest;
          rest = {constant(0)};
          continue;
        }
        // Nothing may be divided by a size of 0, even if no lane is active.
        Value extent = size(collapse.getSrc(), group[i]);
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
