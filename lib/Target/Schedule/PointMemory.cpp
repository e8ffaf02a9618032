//===- PointMemory.cpp - loads and stores of points -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/PointEmitter.h"

#include "Target/Common/Booleans.h"

using namespace mlir;
using namespace mlir::relax;

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
