//===- KernelDivision.cpp - divisions in SPIR-V ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divisions that are not left to the driver:
//
// - 64-bit integers: with NVIDIA's driver 580.159, a loop that adds its counter
//   to the remainder of such a division to compute an address reads the data of
//   the block's first thread in all iterations but the first.
// - Remainders of negative numbers, which Vulkan does not define.
// - f32 quotients with divisors above 2^126, and f16 quotients with divisors
//   above 2^14, which are not defined either: 3e38 / 3e38 is 0 on an H200.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::relax;

Value KernelEmitter::subtractProduct(Value from, Value lhs, Value rhs) {
  Type type = from.getType();
  return spirv::ISubOp::create(builder, type, from,
                               spirv::IMulOp::create(builder, type, lhs, rhs));
}

/// Long division by binary digits. `quotient` and `remainder` are variables.
void KernelEmitter::divideLong(Value lhs, Value rhs, Value quotient,
                               Value remainder) {
  Type i64 = builder.getI64Type();
  Value one = number(1, i64), zero = number(0, i64);
  Value left = makeVariables(i64).front();
  spirv::StoreOp::create(builder, quotient, lhs);
  spirv::StoreOp::create(builder, remainder, zero);
  spirv::StoreOp::create(builder, left, number(64, i64));
  auto loop = spirv::LoopOp::create(builder, spirv::LoopControl::DontUnroll);
  OpBuilder::InsertionGuard guard(builder);
  Block *merge, *next;
  beginLoop(loop, merge, next);
  // `quotient` holds the remaining digits of the dividend above the known
  // digits of the result.
  Value digits = read(quotient), before = read(remainder);
  Value digit =
      spirv::ShiftRightLogicalOp::create(builder, i64, digits, number(63, i64));
  Value rest = spirv::BitwiseOrOp::create(builder, i64,
                                          shiftLeft(before, one, i64), digit);
  Value isIn = spirv::UGreaterThanEqualOp::create(builder, rest, rhs);
  Value less = spirv::ISubOp::create(builder, i64, rest, rhs);
  spirv::StoreOp::create(
      builder, remainder,
      spirv::SelectOp::create(builder, i64, isIn, less, rest));
  Value shifted = shiftLeft(digits, one, i64);
  spirv::StoreOp::create(
      builder, quotient,
      spirv::BitwiseOrOp::create(
          builder, i64, shifted,
          spirv::SelectOp::create(builder, i64, isIn, one, zero)));
  Value count = spirv::ISubOp::create(builder, i64, read(left), one);
  spirv::StoreOp::create(builder, left, count);
  spirv::BranchConditionalOp::create(
      builder, spirv::INotEqualOp::create(builder, count, zero), next,
      ValueRange(), merge, ValueRange());
}

Value KernelEmitter::narrowOf(Value value) {
  if (auto wide = value.getDefiningOp<spirv::UConvertOp>())
    return wide.getOperand().getType().isInteger(32) ? wide.getOperand()
                                                     : Value();
  APInt known;
  return matchPattern(value, m_ConstantInt(&known)) && known.isIntN(32)
             ? word(known.getZExtValue())
             : Value();
}

KernelEmitter::Division KernelEmitter::divideUnsigned(Value lhs, Value rhs) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  APInt by;
  if (matchPattern(rhs, m_ConstantInt(&by)) && by.isPowerOf2()) {
    Value quotient = spirv::ShiftRightLogicalOp::create(
        builder, i64, lhs, number(by.logBase2(), i64));
    Value remainder = spirv::BitwiseAndOp::create(
        builder, i64, lhs, number((by - 1).getSExtValue(), i64));
    return {quotient, remainder};
  }
  auto low = [&](Value value) {
    Value known = narrowOf(value);
    return known ? known
                 : Value(spirv::UConvertOp::create(builder, i32, value));
  };
  auto widen = [&](Value value) {
    return spirv::UConvertOp::create(builder, i64, value);
  };
  auto isLong = [&](Value value) {
    Value upper = spirv::ShiftRightLogicalOp::create(builder, i64, value,
                                                     number(32, i64));
    return spirv::INotEqualOp::create(builder, upper, number(0, i64));
  };
  Value from = low(lhs), divisor = low(rhs);
  if (narrowOf(lhs)) {
    // If the divisor is longer than 32 bits, the quotient is 0; divide by 1
    // instead.
    Value isLess = narrowOf(rhs) ? Value() : isLong(rhs);
    auto orElse = [&](Value shorter, Value longer) {
      return isLess ? Value(spirv::SelectOp::create(builder, i32, isLess,
                                                    longer, shorter))
                    : shorter;
    };
    divisor = orElse(divisor, word(1));
    Value quotient = spirv::UDivOp::create(builder, i32, from, divisor);
    Value remainder = subtractProduct(from, quotient, divisor);
    quotient = widen(orElse(quotient, word(0)));
    return {quotient, widen(orElse(remainder, from))};
  }
  SmallVector<Value> results = makeVariables({i64, i64});
  auto inWords = [&] {
    Value quotient = spirv::UDivOp::create(builder, i32, from, divisor);
    spirv::StoreOp::create(builder, results[0], widen(quotient));
    spirv::StoreOp::create(builder, results[1],
                           widen(subtractProduct(from, quotient, divisor)));
  };
  emitSelection(
      isLong(spirv::BitwiseOrOp::create(builder, i64, lhs, rhs)),
      [&] { divideLong(lhs, rhs, results[0], results[1]); }, inWords);
  Value quotient = read(results[0]);
  return {quotient, read(results[1])};
}

/// Divides the absolute values, then fixes the signs.
KernelEmitter::Division KernelEmitter::divideSigned(Value lhs, Value rhs) {
  Type i64 = builder.getI64Type();
  Value zero = number(0, i64);
  auto negate = [&](Value value, Value isWanted) -> Value {
    Value negative = spirv::ISubOp::create(builder, i64, zero, value);
    return spirv::SelectOp::create(builder, i64, isWanted, negative, value);
  };
  Value isBelow = compareInts(arith::CmpIPredicate::slt, lhs, zero);
  Value size = negate(lhs, isBelow);
  APInt by;
  if (matchPattern(rhs, m_ConstantInt(&by)) && !by.isNegative()) {
    Division made = divideUnsigned(size, rhs);
    made.quotient = negate(made.quotient, isBelow);
    made.remainder = negate(made.remainder, isBelow);
    return made;
  }
  Value byBelow = compareInts(arith::CmpIPredicate::slt, rhs, zero);
  Division made = divideUnsigned(size, negate(rhs, byBelow));
  Value differ = spirv::LogicalNotEqualOp::create(builder, isBelow, byBelow);
  made.quotient = negate(made.quotient, differ);
  made.remainder = negate(made.remainder, isBelow);
  return made;
}

Value KernelEmitter::divide(Value lhs, Value rhs, bool isSigned,
                            bool wantsRemainder) {
  Type type = lhs.getType();
  if (!type.isInteger(64)) {
    Value quotient = isSigned
                         ? Value(spirv::SDivOp::create(builder, type, lhs, rhs))
                         : spirv::UDivOp::create(builder, type, lhs, rhs);
    return wantsRemainder ? subtractProduct(lhs, quotient, rhs) : quotient;
  }
  auto key = std::make_tuple(builder.getInsertionBlock(), lhs, rhs, isSigned);
  if (lastDivided != key) {
    lastDivision = isSigned ? divideSigned(lhs, rhs) : divideUnsigned(lhs, rhs);
    lastDivided = key;
  }
  return wantsRemainder ? lastDivision.remainder : lastDivision.quotient;
}

/// Scales both operands down if the divisor is large. f16 is divided in f32,
/// which rounds correctly.
Value KernelEmitter::divideReals(Value lhs, Value rhs, Value divisor) {
  Type type = lhs.getType(), i32 = builder.getI32Type(),
       f32 = builder.getF32Type();
  auto exact = [&](Operation *op) {
    op->setAttr("no_contraction", builder.getUnitAttr());
    return op->getResult(0);
  };
  auto divide = [&](Value from, Value by) {
    return exact(spirv::FDivOp::create(builder, from.getType(), from, by));
  };
  if (type.isF16()) {
    Value from = spirv::FConvertOp::create(builder, f32, lhs);
    Value by = spirv::FConvertOp::create(builder, f32, rhs);
    return spirv::FConvertOp::create(builder, type, divide(from, by));
  }
  constexpr float kMost = 0x1p125f;
  APFloat known(0.0f);
  auto isSmall = [&] {
    return matchPattern(divisor, m_ConstantFloat(&known)) &&
           abs(known) <= APFloat(kMost);
  };
  if (!type.isF32() || isSmall())
    return divide(lhs, rhs);
  auto real = [&](float value) {
    return emitConstant(builder.getF32FloatAttr(value), type);
  };
  Value size = spirv::BitwiseAndOp::create(builder, i32, reinterpret(rhs, i32),
                                           word(0x7fffffff));
  Value isLarge = spirv::UGreaterThanOp::create(
      builder, size, word(llvm::bit_cast<int32_t>(kMost)));
  Value small = real(0x1p-4f), one = real(1);
  Value scale = spirv::SelectOp::create(builder, type, isLarge, small, one);
  Value from = exact(spirv::FMulOp::create(builder, type, lhs, scale));
  Value by = exact(spirv::FMulOp::create(builder, type, rhs, scale));
  return divide(from, by);
}
