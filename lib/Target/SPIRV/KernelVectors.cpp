//===- KernelVectors.cpp - vectors as lists of elements -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elements of a multi-dimensional vector are in row-major order.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

/// The linear index of the first element at a static position of leading
/// dimensions; none if the position is not static.
static std::optional<int64_t> placeOf(VectorType type,
                                      ArrayRef<int64_t> position) {
  int64_t place = 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t at = dim < position.size() ? position[dim] : 0;
    if (at < 0 || at >= size)
      return std::nullopt;
    place = place * size + at;
  }
  return place;
}

/// Visits the elements of a box within a vector, with their indices in both.
static void visitBox(VectorType all, ArrayRef<int64_t> offsets,
                     ArrayRef<int64_t> sizes,
                     function_ref<void(int64_t whole, int64_t part)> visit) {
  SmallVector<int64_t> box = llvm::to_vector(sizes);
  SmallVector<int64_t> from = llvm::to_vector(offsets);
  for (int64_t dim = box.size(); dim < all.getRank(); ++dim) {
    box.push_back(all.getDimSize(dim));
    from.push_back(0);
  }
  SmallVector<int64_t> strides = computeStrides(all.getShape());
  SmallVector<int64_t> inner = computeStrides(box);
  for (int64_t part = 0; part < computeProduct(box); ++part) {
    SmallVector<int64_t> at = delinearize(part, inner);
    for (auto [value, start] : llvm::zip(at, from))
      value += start;
    visit(linearize(at, strides), part);
  }
}

Value KernelEmitter::combine(vector::CombiningKind kind, Value lhs, Value rhs) {
  using vector::CombiningKind;
  Type type = lhs.getType();
  bool isReal = isa<FloatType>(type), isBoolean = type.isInteger(1);
  auto choose = [&](arith::CmpIPredicate predicate) -> Value {
    return spirv::SelectOp::create(builder, type,
                                   compareInts(predicate, lhs, rhs), lhs, rhs);
  };
  auto chooseReal = [&](arith::CmpFPredicate predicate,
                        bool keepsNaN) -> Value {
    Value result = spirv::SelectOp::create(
        builder, type, compareFloats(predicate, lhs, rhs), lhs, rhs);
    // The comparison selects `rhs` for NaN.
    Value isNaN = spirv::IsNanOp::create(builder, keepsNaN ? lhs : rhs);
    return spirv::SelectOp::create(builder, type, isNaN, lhs, result);
  };
  switch (kind) {
  case CombiningKind::ADD:
    return isReal ? Value(spirv::FAddOp::create(builder, type, lhs, rhs))
                  : Value(spirv::IAddOp::create(builder, type, lhs, rhs));
  case CombiningKind::MUL:
    return isReal ? Value(spirv::FMulOp::create(builder, type, lhs, rhs))
                  : Value(spirv::IMulOp::create(builder, type, lhs, rhs));
  case CombiningKind::MINSI:
    return choose(arith::CmpIPredicate::slt);
  case CombiningKind::MAXSI:
    return choose(arith::CmpIPredicate::sgt);
  case CombiningKind::MINUI:
    return choose(arith::CmpIPredicate::ult);
  case CombiningKind::MAXUI:
    return choose(arith::CmpIPredicate::ugt);
  case CombiningKind::MINIMUMF:
    return chooseReal(arith::CmpFPredicate::OLT, /*keepsNaN=*/true);
  case CombiningKind::MAXIMUMF:
    return chooseReal(arith::CmpFPredicate::OGT, /*keepsNaN=*/true);
  case CombiningKind::MINNUMF:
    return chooseReal(arith::CmpFPredicate::OLT, /*keepsNaN=*/false);
  case CombiningKind::MAXNUMF:
    return chooseReal(arith::CmpFPredicate::OGT, /*keepsNaN=*/false);
  case CombiningKind::AND:
    if (isBoolean)
      return spirv::LogicalAndOp::create(builder, type, lhs, rhs);
    return spirv::BitwiseAndOp::create(builder, type, lhs, rhs);
  case CombiningKind::OR:
    if (isBoolean)
      return spirv::LogicalOrOp::create(builder, type, lhs, rhs);
    return spirv::BitwiseOrOp::create(builder, type, lhs, rhs);
  case CombiningKind::XOR:
    if (isBoolean)
      return spirv::LogicalNotEqualOp::create(builder, type, lhs, rhs);
    return spirv::BitwiseXorOp::create(builder, type, lhs, rhs);
  }
  llvm_unreachable("all kinds are above");
}

LogicalResult KernelEmitter::emitReduction(vector::ReductionOp op) {
  // Add in pairs for a short dependence chain: ((a+b)+(c+d)).
  Values level = llvm::to_vector<1>(elementsOf(op.getVector()));
  while (level.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(op.getKind(), level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  Value result = level.front();
  if (op.getAcc())
    result = combine(op.getKind(), scalarOf(op.getAcc()), result);
  bind(op.getResult(), {result});
  return success();
}

/// The word that `parts` are the consecutive parts of; null if there is none.
Value KernelEmitter::wordOf(ArrayRef<Value> parts) {
  int64_t bits = 32 / static_cast<int64_t>(parts.size());
  Value found;
  for (auto [part, own] : llvm::enumerate(parts)) {
    Value value = own;
    if (auto cast = value.getDefiningOp<spirv::BitcastOp>())
      value = cast.getOperand();
    auto narrow = value.getDefiningOp<spirv::UConvertOp>();
    if (!narrow || narrow.getType().getIntOrFloatBitWidth() != bits)
      return {};
    Value whole = narrow.getOperand();
    APInt by;
    if (part > 0) {
      auto shifted = whole.getDefiningOp<spirv::ShiftRightLogicalOp>();
      if (!shifted ||
          !matchPattern(shifted.getOperand2(), m_ConstantInt(&by)) ||
          by != part * bits)
        return {};
      whole = shifted.getOperand1();
    }
    if (!whole.getType().isInteger(32) || (found && whole != found))
      return {};
    found = whole;
  }
  return found;
}

LogicalResult KernelEmitter::emitBitcast(vector::BitCastOp op) {
  Type from = typeOf(op.getSourceVectorType().getElementType());
  Type to = typeOf(op.getResultVectorType().getElementType());
  int64_t fromBits = from.getIntOrFloatBitWidth();
  int64_t toBits = to.getIntOrFloatBitWidth();
  Type fromInt = builder.getIntegerType(fromBits);
  Type toInt = builder.getIntegerType(toBits);
  ArrayRef<Value> source = elementsOf(op.getSource());
  Values elements;
  if (fromBits >= toBits) {
    for (Value value : source) {
      Value bits = reinterpret(value, fromInt);
      for (int64_t part = 0; part < fromBits / toBits; ++part) {
        Value shifted = bits;
        if (part > 0)
          shifted = spirv::ShiftRightLogicalOp::create(
              builder, fromInt, bits, number(part * toBits, fromInt));
        elements.push_back(reinterpret(convertInt(shifted, toInt, false), to));
      }
    }
  } else {
    int64_t parts = toBits / fromBits;
    for (size_t first = 0; first < source.size(); first += parts) {
      Value all = toBits == 32 ? wordOf(source.slice(first, parts)) : Value();
      for (int64_t part = all ? parts : 0; part < parts; ++part) {
        Value one = convertInt(reinterpret(source[first + part], fromInt),
                               toInt, false);
        if (part > 0)
          one = spirv::ShiftLeftLogicalOp::create(
              builder, toInt, one, number(part * fromBits, toInt));
        all = all ? spirv::BitwiseOrOp::create(builder, toInt, all, one)
                        .getResult()
                  : one;
      }
      elements.push_back(reinterpret(all, to));
    }
  }
  bind(op.getResult(), std::move(elements));
  return success();
}

LogicalResult KernelEmitter::emitVector(Operation &op, bool &isKnown) {
  auto copy = [&](Value from) { return llvm::to_vector<1>(elementsOf(from)); };
  if (auto reduction = dyn_cast<vector::ReductionOp>(op))
    return emitReduction(reduction);
  if (auto cast = dyn_cast<vector::BitCastOp>(op))
    return emitBitcast(cast);
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    bind(cast, copy(cast.getSource()));
    return success();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    VectorType type = broadcast.getResultVectorType();
    auto from = dyn_cast<VectorType>(broadcast.getSourceType());
    SmallVector<int64_t> strides = computeStrides(type.getShape());
    Values elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      int64_t place = 0;
      if (from) {
        SmallVector<int64_t> at = delinearize(i, strides);
        int64_t lead = type.getRank() - from.getRank();
        for (auto [dim, size] : llvm::enumerate(from.getShape()))
          place = place * size + (size == 1 ? 0 : at[lead + dim]);
      }
      elements.push_back(elementsOf(broadcast.getSource())[place]);
    }
    bind(broadcast, std::move(elements));
    return success();
  }
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    std::optional<int64_t> place =
        placeOf(extract.getSourceVectorType(), extract.getStaticPosition());
    if (!place)
      return op.emitOpError(
          "must have a constant position to be lowered to SPIR-V");
    auto part = dyn_cast<VectorType>(extract.getType());
    bind(extract, llvm::to_vector<1>(
                      elementsOf(extract.getSource())
                          .slice(*place, part ? part.getNumElements() : 1)));
    return success();
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    std::optional<int64_t> place =
        placeOf(insert.getDestVectorType(), insert.getStaticPosition());
    if (!place)
      return op.emitOpError(
          "must have a constant position to be lowered to SPIR-V");
    Values elements = copy(insert.getDest());
    for (auto [i, value] :
         llvm::enumerate(elementsOf(insert.getValueToStore())))
      elements[*place + i] = value;
    bind(insert, std::move(elements));
    return success();
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    SmallVector<int64_t> offsets, sizes;
    slice.getOffsets(offsets);
    for (Attribute size : slice.getSizes())
      sizes.push_back(cast<IntegerAttr>(size).getInt());
    Values elements;
    visitBox(slice.getSourceVectorType(), offsets, sizes,
             [&](int64_t whole, int64_t) {
               elements.push_back(elementsOf(slice.getSource())[whole]);
             });
    bind(slice, std::move(elements));
    return success();
  }
  if (auto slice = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    SmallVector<int64_t> offsets;
    for (Attribute offset : slice.getOffsets())
      offsets.push_back(cast<IntegerAttr>(offset).getInt());
    VectorType all = slice.getDestVectorType();
    SmallVector<int64_t> sizes(
        all.getRank() - slice.getSourceVectorType().getRank(), 1);
    llvm::append_range(sizes, slice.getSourceVectorType().getShape());
    Values elements = copy(slice.getDest());
    visitBox(all, offsets, sizes, [&](int64_t whole, int64_t part) {
      elements[whole] = elementsOf(slice.getValueToStore())[part];
    });
    bind(slice, std::move(elements));
    return success();
  }
  if (auto elements = dyn_cast<vector::FromElementsOp>(op)) {
    bind(elements,
         llvm::map_to_vector<1>(elements.getElements(),
                                [&](Value one) { return scalarOf(one); }));
    return success();
  }
  if (auto elements = dyn_cast<vector::ToElementsOp>(op)) {
    for (auto [result, value] :
         llvm::zip(elements.getResults(), copy(elements.getSource())))
      bind(result, {value});
    return success();
  }
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    Values both = copy(shuffle.getV1());
    llvm::append_range(both, elementsOf(shuffle.getV2()));
    bind(shuffle, llvm::map_to_vector<1>(shuffle.getMask(), [&](int64_t at) {
           return both[std::max<int64_t>(at, 0)];
         }));
    return success();
  }
  if (auto both = dyn_cast<vector::InterleaveOp>(op)) {
    Values elements;
    for (auto [lhs, rhs] : llvm::zip(copy(both.getLhs()), copy(both.getRhs())))
      elements.append({lhs, rhs});
    bind(both, std::move(elements));
    return success();
  }
  if (auto parts = dyn_cast<vector::DeinterleaveOp>(op)) {
    Values even, odd;
    for (auto [i, value] : llvm::enumerate(copy(parts.getSource())))
      (i % 2 ? odd : even).push_back(value);
    bind(parts.getRes1(), std::move(even));
    bind(parts.getRes2(), std::move(odd));
    return success();
  }
  if (auto fma = dyn_cast<vector::FMAOp>(op)) {
    Values elements;
    for (auto [a, b, c] :
         llvm::zip(elementsOf(fma.getLhs()), elementsOf(fma.getRhs()),
                   elementsOf(fma.getAcc())))
      elements.push_back(spirv::GLFmaOp::create(builder, a.getType(), a, b, c));
    bind(fma, std::move(elements));
    return success();
  }
  isKnown = false;
  return failure();
}
