//===- KernelArithmetic.cpp - scalar ops in SPIR-V ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Float sums and products are not fused unless the op allows it
// (NoContraction), so that a kernel computes the same results on every device.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

Value KernelEmitter::emitConstant(Attribute value, Type type) {
  if (auto real = dyn_cast<FloatAttr>(value); real && type.isInteger())
    value = builder.getIntegerAttr(type, real.getValue().bitcastToAPInt());
  else if (auto integer = dyn_cast<IntegerAttr>(value);
           integer && integer.getType() != type) {
    if (isNarrow && integer.getType().isIndex() &&
        !llvm::isInt<32>(integer.getInt())) {
      emitError(builder.getLoc(),
                "a constant needs an index of more than 32 bits, "
                "which the device lacks");
      hasFailed = true;
    }
    value = builder.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(),
                                               integer.getInt(), true, true));
  }
  return spirv::ConstantOp::create(builder, type, value);
}

Value KernelEmitter::reinterpret(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return spirv::BitcastOp::create(builder, type, value);
}

Value KernelEmitter::extendSigned(Value value, Type type) {
  // Mesa 22.3 miscompiles signed comparisons of OpSConvert results
  // (docs/vulkan.md): nothing compares as less than them. Extend without sign
  // instead, then flip the sign bit and subtract it.
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  Value sign = number(int64_t(1) << (bits - 1), type);
  Value wide = spirv::UConvertOp::create(builder, type, value);
  return spirv::ISubOp::create(
      builder, type, spirv::BitwiseXorOp::create(builder, type, wide, sign),
      sign);
}

Value KernelEmitter::convertInt(Value value, Type type, bool isSigned) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isInteger(1))
    return spirv::SelectOp::create(
        builder, type, value, number(isSigned ? -1 : 1, type), number(0, type));
  if (type.isInteger(1)) {
    Value low =
        spirv::BitwiseAndOp::create(builder, from, value, number(1, from));
    return spirv::INotEqualOp::create(builder, low, number(0, from));
  }
  if (type.getIntOrFloatBitWidth() > 64 || from.getIntOrFloatBitWidth() > 64) {
    emitError(builder.getLoc(), "a conversion needs integers of more than 64 "
                                "bits, which Vulkan devices lack");
    hasFailed = true;
    return number(0, builder.getI64Type());
  }
  if (isSigned && type.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return extendSigned(value, type);
  // Undo an earlier extension.
  if (auto wide = value.getDefiningOp<spirv::UConvertOp>())
    if (Type narrow = wide.getOperand().getType();
        narrow == type &&
        narrow.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
      return wide.getOperand();
  return spirv::UConvertOp::create(builder, type, value);
}

/// Shifts a half of a word to the upper half, as when bf16 becomes f32, without
/// extracting it from the word.
Value KernelEmitter::shiftLeft(Value lhs, Value rhs, Type type) {
  APInt bits;
  auto wide = lhs.getDefiningOp<spirv::UConvertOp>();
  auto narrow = wide ? wide.getOperand().getDefiningOp<spirv::UConvertOp>()
                     : spirv::UConvertOp();
  if (type.isInteger(32) && matchPattern(rhs, m_ConstantInt(&bits)) &&
      bits == 16 && narrow && narrow.getType().isInteger(16) &&
      narrow.getOperand().getType() == type) {
    lhs = narrow.getOperand();
    auto upper = lhs.getDefiningOp<spirv::ShiftRightLogicalOp>();
    if (upper && matchPattern(upper.getOperand2(), m_ConstantInt(&bits)) &&
        bits == 16)
      return spirv::BitwiseAndOp::create(builder, type, upper.getOperand1(),
                                         word(-65536));
  }
  return spirv::ShiftLeftLogicalOp::create(builder, type, lhs, rhs);
}

Value KernelEmitter::compareInts(arith::CmpIPredicate predicate, Value lhs,
                                 Value rhs) {
  using Predicate = arith::CmpIPredicate;
  if (lhs.getType().isInteger(1)) {
    Type i1 = lhs.getType();
    if (predicate == Predicate::eq)
      return spirv::LogicalEqualOp::create(builder, i1, lhs, rhs);
    if (predicate == Predicate::ne)
      return spirv::LogicalNotEqualOp::create(builder, i1, lhs, rhs);
    bool isSigned = llvm::is_contained(
        {Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge},
        predicate);
    lhs = convertInt(lhs, builder.getI32Type(), isSigned);
    rhs = convertInt(rhs, builder.getI32Type(), isSigned);
  }
  switch (predicate) {
  case Predicate::eq:
    return spirv::IEqualOp::create(builder, lhs, rhs);
  case Predicate::ne:
    return spirv::INotEqualOp::create(builder, lhs, rhs);
  case Predicate::slt:
    return spirv::SLessThanOp::create(builder, lhs, rhs);
  case Predicate::sle:
    return spirv::SLessThanEqualOp::create(builder, lhs, rhs);
  case Predicate::sgt:
    return spirv::SGreaterThanOp::create(builder, lhs, rhs);
  case Predicate::sge:
    return spirv::SGreaterThanEqualOp::create(builder, lhs, rhs);
  case Predicate::ult:
    return spirv::ULessThanOp::create(builder, lhs, rhs);
  case Predicate::ule:
    return spirv::ULessThanEqualOp::create(builder, lhs, rhs);
  case Predicate::ugt:
    return spirv::UGreaterThanOp::create(builder, lhs, rhs);
  case Predicate::uge:
    return spirv::UGreaterThanEqualOp::create(builder, lhs, rhs);
  }
  llvm_unreachable("all predicates are above");
}

Value KernelEmitter::compareFloats(arith::CmpFPredicate predicate, Value lhs,
                                   Value rhs) {
  using Predicate = arith::CmpFPredicate;
  Type i1 = builder.getI1Type();
  auto isNaN = [&]() -> Value {
    return spirv::LogicalOrOp::create(builder, i1,
                                      spirv::IsNanOp::create(builder, lhs),
                                      spirv::IsNanOp::create(builder, rhs));
  };
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return number(0, i1);
  case Predicate::AlwaysTrue:
    return number(1, i1);
  case Predicate::OEQ:
    return spirv::FOrdEqualOp::create(builder, lhs, rhs);
  case Predicate::ONE:
    return spirv::FOrdNotEqualOp::create(builder, lhs, rhs);
  case Predicate::OLT:
    return spirv::FOrdLessThanOp::create(builder, lhs, rhs);
  case Predicate::OLE:
    return spirv::FOrdLessThanEqualOp::create(builder, lhs, rhs);
  case Predicate::OGT:
    return spirv::FOrdGreaterThanOp::create(builder, lhs, rhs);
  case Predicate::OGE:
    return spirv::FOrdGreaterThanEqualOp::create(builder, lhs, rhs);
  case Predicate::UEQ:
    return spirv::FUnordEqualOp::create(builder, lhs, rhs);
  case Predicate::UNE:
    return spirv::FUnordNotEqualOp::create(builder, lhs, rhs);
  case Predicate::ULT:
    return spirv::FUnordLessThanOp::create(builder, lhs, rhs);
  case Predicate::ULE:
    return spirv::FUnordLessThanEqualOp::create(builder, lhs, rhs);
  case Predicate::UGT:
    return spirv::FUnordGreaterThanOp::create(builder, lhs, rhs);
  case Predicate::UGE:
    return spirv::FUnordGreaterThanEqualOp::create(builder, lhs, rhs);
  case Predicate::UNO:
    return isNaN();
  case Predicate::ORD:
    return spirv::LogicalNotOp::create(builder, i1, isNaN());
  }
  llvm_unreachable("all predicates are above");
}

FailureOr<Value> KernelEmitter::emitCast(Operation &op, Value value,
                                         Type type) {
  bool fromBoolean = value.getType().isInteger(1);
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return convertInt(value, type, /*isSigned=*/true);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(op))
    return convertInt(value, type, /*isSigned=*/false);
  if (isa<arith::BitcastOp>(op))
    return reinterpret(value, type);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && isa<FloatType>(type) &&
      isa<FloatType>(value.getType()))
    return Value(spirv::FConvertOp::create(builder, type, value));
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isa<FloatType>(type)) {
    bool isSigned = isa<arith::SIToFPOp>(op);
    if (fromBoolean)
      value = convertInt(value, builder.getI32Type(), isSigned);
    if (isSigned)
      return Value(spirv::ConvertSToFOp::create(builder, type, value));
    return Value(spirv::ConvertUToFOp::create(builder, type, value));
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) &&
      isa<FloatType>(value.getType())) {
    bool isSigned = isa<arith::FPToSIOp>(op);
    Type own = type.isInteger(1) ? builder.getI32Type() : type;
    Value whole =
        isSigned ? Value(spirv::ConvertFToSOp::create(builder, own, value))
                 : Value(spirv::ConvertFToUOp::create(builder, own, value));
    return convertInt(whole, type, isSigned);
  }
  return failure();
}

FailureOr<Value> KernelEmitter::emitMath(Operation &op, ValueRange operands,
                                         Type type) {
  Value x = operands.front();
  Type of = x.getType();
  auto bits = builder.getIntegerType(of.getIntOrFloatBitWidth());
  if (isa<math::AbsFOp>(op))
    return Value(spirv::GLFAbsOp::create(builder, type, x));
  if (isa<math::SqrtOp>(op))
    return Value(spirv::GLSqrtOp::create(builder, type, x));
  if (isa<math::FloorOp>(op))
    return Value(spirv::GLFloorOp::create(builder, type, x));
  if (isa<math::CeilOp>(op))
    return Value(spirv::GLCeilOp::create(builder, type, x));
  if (isa<math::RoundEvenOp>(op))
    return Value(spirv::GLRoundEvenOp::create(builder, type, x));
  if (isa<math::FmaOp>(op))
    return Value(
        spirv::GLFmaOp::create(builder, type, x, operands[1], operands[2]));
  if (isa<math::IsNaNOp>(op))
    return Value(spirv::IsNanOp::create(builder, x));
  if (isa<math::IsInfOp>(op))
    return Value(spirv::IsInfOp::create(builder, x));
  if (isa<math::CopySignOp>(op)) {
    Value sign = emitConstant(
        builder.getIntegerAttr(bits, APInt::getSignMask(bits.getWidth())),
        bits);
    Value rest = emitConstant(
        builder.getIntegerAttr(bits, APInt::getSignedMaxValue(bits.getWidth())),
        bits);
    Value size =
        spirv::BitwiseAndOp::create(builder, bits, reinterpret(x, bits), rest);
    Value taken = spirv::BitwiseAndOp::create(
        builder, bits, reinterpret(operands[1], bits), sign);
    return reinterpret(spirv::BitwiseOrOp::create(builder, bits, size, taken),
                       type);
  }
  if (isa<math::AbsIOp>(op)) {
    Value negative = compareInts(arith::CmpIPredicate::slt, x, number(0, type));
    return Value(spirv::SelectOp::create(
        builder, type, negative,
        spirv::ISubOp::create(builder, type, number(0, type), x), x));
  }
  return failure();
}

/// Products of twice the width as two halves, and sums with carry.
void KernelEmitter::emitExtended(Operation &op) {
  Values low, high;
  Values lhs(elementsOf(op.getOperand(0))), rhs(elementsOf(op.getOperand(1)));
  for (auto [x, y] : llvm::zip(lhs, rhs)) {
    Type type = x.getType();
    if (isa<arith::AddUIExtendedOp>(op)) {
      low.push_back(spirv::IAddOp::create(builder, type, x, y));
      high.push_back(compareInts(arith::CmpIPredicate::ult, low.back(), x));
      continue;
    }
    Value both = spirv::UMulExtendedOp::create(
        builder, spirv::StructType::get({type, type}), x, y);
    for (int32_t half : {0, 1})
      (half ? high : low)
          .push_back(spirv::CompositeExtractOp::create(
              builder, both, ArrayRef<int32_t>{half}));
    if (!isa<arith::MulSIExtendedOp>(op))
      continue;
    // As unsigned numbers, negative factors are larger by 2^bits; correct for
    // that.
    for (auto [factor, other] : {std::pair(x, y), std::pair(y, x)}) {
      Value excess = spirv::SelectOp::create(
          builder, type,
          compareInts(arith::CmpIPredicate::slt, factor, number(0, type)),
          other, number(0, type));
      high.back() = spirv::ISubOp::create(builder, type, high.back(), excess);
    }
  }
  bind(op.getResult(0), std::move(low));
  bind(op.getResult(1), std::move(high));
}

FailureOr<Value> KernelEmitter::emitScalar(Operation &op, ValueRange operands,
                                           Type element) {
  Type type = typeOf(element);
  auto refuse = [&]() -> FailureOr<Value> {
    InFlightDiagnostic error = op.emitOpError("cannot be lowered to SPIR-V");
    if (op.getNumOperands())
      error << " with operands of type " << op.getOperandTypes();
    return error;
  };
  if (operands.empty())
    return refuse();
  Value lhs = operands[0], rhs = operands.size() > 1 ? operands[1] : Value();
  bool isBoolean = lhs.getType().isInteger(1);
  bool isReal = isa<FloatType>(lhs.getType());
  auto exact = [&](Operation *made) -> FailureOr<Value> {
    auto math = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!math || !bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(),
                                     arith::FastMathFlags::contract))
      made->setAttr("no_contraction", builder.getUnitAttr());
    return made->getResult(0);
  };
  auto choose = [&](arith::CmpIPredicate predicate) -> FailureOr<Value> {
    return Value(spirv::SelectOp::create(
        builder, type, compareInts(predicate, lhs, rhs), lhs, rhs));
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareInts(compare.getPredicate(), lhs, rhs);
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare && isReal)
    return compareFloats(compare.getPredicate(), lhs, rhs);
  if (isa<arith::SelectOp>(op))
    return Value(spirv::SelectOp::create(builder, type, lhs, rhs, operands[2]));
  if (isReal && type == lhs.getType()) {
    if (isa<arith::AddFOp>(op))
      return exact(spirv::FAddOp::create(builder, type, lhs, rhs));
    if (isa<arith::SubFOp>(op))
      return exact(spirv::FSubOp::create(builder, type, lhs, rhs));
    if (isa<arith::MulFOp>(op))
      return exact(spirv::FMulOp::create(builder, type, lhs, rhs));
    if (isa<arith::DivFOp>(op))
      return divideReals(lhs, rhs, op.getOperand(1));
    if (isa<arith::RemFOp>(op))
      return exact(spirv::FRemOp::create(builder, type, lhs, rhs));
    if (isa<arith::NegFOp>(op))
      return Value(spirv::FNegateOp::create(builder, type, lhs));
    if (isa<arith::MaximumFOp>(op))
      return combine(vector::CombiningKind::MAXIMUMF, lhs, rhs);
    if (isa<arith::MinimumFOp>(op))
      return combine(vector::CombiningKind::MINIMUMF, lhs, rhs);
    if (isa<arith::MaxNumFOp>(op))
      return combine(vector::CombiningKind::MAXNUMF, lhs, rhs);
    if (isa<arith::MinNumFOp>(op))
      return combine(vector::CombiningKind::MINNUMF, lhs, rhs);
  }
  if (isBoolean && type == lhs.getType()) {
    if (isa<arith::AndIOp, arith::MulIOp>(op))
      return combine(vector::CombiningKind::AND, lhs, rhs);
    if (isa<arith::OrIOp>(op))
      return combine(vector::CombiningKind::OR, lhs, rhs);
    if (isa<arith::XOrIOp, arith::AddIOp, arith::SubIOp>(op))
      return combine(vector::CombiningKind::XOR, lhs, rhs);
  }
  if (isa<arith::AddIOp>(op))
    return Value(spirv::IAddOp::create(builder, type, lhs, rhs));
  if (isa<arith::SubIOp>(op))
    return Value(spirv::ISubOp::create(builder, type, lhs, rhs));
  if (isa<arith::MulIOp>(op))
    return Value(spirv::IMulOp::create(builder, type, lhs, rhs));
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return divide(lhs, rhs,
                  /*isSigned=*/isa<arith::DivSIOp, arith::RemSIOp>(op),
                  /*wantsRemainder=*/isa<arith::RemSIOp, arith::RemUIOp>(op));
  if (isa<arith::AndIOp>(op))
    return combine(vector::CombiningKind::AND, lhs, rhs);
  if (isa<arith::OrIOp>(op))
    return combine(vector::CombiningKind::OR, lhs, rhs);
  if (isa<arith::XOrIOp>(op))
    return combine(vector::CombiningKind::XOR, lhs, rhs);
  if (isa<arith::ShLIOp>(op))
    return shiftLeft(lhs, rhs, type);
  if (isa<arith::ShRUIOp>(op))
    return Value(spirv::ShiftRightLogicalOp::create(builder, type, lhs, rhs));
  if (isa<arith::ShRSIOp>(op))
    return Value(
        spirv::ShiftRightArithmeticOp::create(builder, type, lhs, rhs));
  if (isa<arith::MaxSIOp>(op))
    return choose(arith::CmpIPredicate::sgt);
  if (isa<arith::MinSIOp>(op))
    return choose(arith::CmpIPredicate::slt);
  if (isa<arith::MaxUIOp>(op))
    return choose(arith::CmpIPredicate::ugt);
  if (isa<arith::MinUIOp>(op))
    return choose(arith::CmpIPredicate::ult);
  if (FailureOr<Value> cast = emitCast(op, lhs, type); succeeded(cast))
    return cast;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    if (FailureOr<Value> value = emitMath(op, operands, type); succeeded(value))
      return value;
  return refuse();
}
