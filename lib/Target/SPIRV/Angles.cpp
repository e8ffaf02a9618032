//===- Angles.cpp - sine, cosine and tangent as arithmetic ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds r with |x| = quarter * pi/2 + r and |r| <= pi/4. For small arguments,
// multiples of pi/2 are subtracted in parts that are exact (Cody and Waite).
// For large arguments |x| = m 2^e with an integer m, the relevant bits of 2/pi
// start at a position given by the exponent (Payne and Hanek), since earlier
// bits only add multiples of four quarters.
//
//   2/pi    0.10100010111110011000001101101110...
//                    |<--- window --->|            starting at bit e - 1
//   m * window, without the overflow      qq.fffff...   quarter, fraction
//
// All of this uses 32-bit words, which every device has.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace mlir::relax;

/// 32 zeros, then the bits of 2/pi needed for the largest f64, from the
/// highest.
static constexpr uint32_t twoOverPi[] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
    0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea,
    0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026,
    0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff,
    0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66,
    0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
    0x1f8d5d08, 0x56033046,
};
/// The first bit of the window for the exponent 0.
static constexpr int64_t leading = 30;

namespace {

/// Arithmetic on 32-bit words.
struct Words {
  Value word(int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  Value sub(Value lhs, Value rhs) {
    return arith::SubIOp::create(builder, loc, lhs, rhs);
  }
  Value land(Value lhs, Value rhs) {
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  }
  Value lor(Value lhs, Value rhs) {
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  }
  Value shl(Value value, Value by) {
    return arith::ShLIOp::create(builder, loc, value, by);
  }
  Value shr(Value value, Value by) {
    return arith::ShRUIOp::create(builder, loc, value, by);
  }
  /// Computes lhs + rhs and adds the carry to `carry`, which may be null.
  Value addWithCarry(Value lhs, Value rhs, Value &carry) {
    Value sum = add(lhs, rhs);
    Value isOver = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::ult, sum, lhs);
    Value one =
        arith::ExtUIOp::create(builder, loc, builder.getI32Type(), isOver);
    carry = carry ? add(carry, one) : one;
    return sum;
  }

  SmallVector<Value> window(Value shift, int64_t largest, size_t count);
  SmallVector<Value> multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs);

  OpBuilder &builder;
  Location loc;
};

/// Words of 2/pi from bit `shift` on, which is at most `largest`; the highest
/// first.
SmallVector<Value> Words::window(Value shift, int64_t largest, size_t count) {
  SmallVector<Value> all;
  for (uint32_t bits : ArrayRef(twoOverPi).take_front(largest / 32 + count + 1))
    all.push_back(word(bits));
  // Select the first word, by the bits of its index.
  Value number = shr(shift, word(5));
  for (int64_t step = 32; step; step /= 2) {
    size_t kept = count + step; // enough for all values of the lower bits
    if (kept >= all.size())
      continue;
    Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        land(number, word(step)), word(0));
    for (size_t i = 0; i < kept && i + step < all.size(); ++i)
      all[i] =
          arith::SelectOp::create(builder, loc, isSet, all[i + step], all[i]);
    all.resize(kept);
  }
  Value within = land(shift, word(31));
  Value rest = sub(word(31), within);
  SmallVector<Value> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(
        lor(shl(all[i], within), shr(shr(all[i + 1], word(1)), rest)));
  return result;
}

/// The lowest words of a product, as many as `rhs` has; the lowest first.
SmallVector<Value> Words::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  SmallVector<Value> sum(rhs.size(), word(0));
  for (auto [i, factor] : llvm::enumerate(lhs)) {
    Value carried = word(0);
    for (size_t j = 0; i + j < rhs.size(); ++j) {
      auto product =
          arith::MulUIExtendedOp::create(builder, loc, factor, rhs[j]);
      // This cannot overflow: the carry is less than the largest word.
      Value carry = product.getHigh();
      Value low = addWithCarry(product.getLow(), carried, carry);
      sum[i + j] = addWithCarry(sum[i + j], low, carry);
      carried = carry;
    }
  }
  return sum;
}

} // namespace

/// Reduces by subtracting multiples of pi/2, in parts.
std::pair<Value, Value> Functions::subtractQuarters(Value size) {
  Value whole = nearest(mul(size, constant(M_2_PI)));
  SmallVector<double> parts = {0x1.92p+0, 0x1.fb4p-12, 0x1.444p-24,
                               0x1.68c234p-39};
  if (isDouble())
    parts = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
             0x1.3198a2e037073p-69};
  Value r = size;
  for (double part : parts)
    r = sub(r, mul(whole, constant(part)));
  Value quarter = toInteger(whole);
  if (isDouble())
    quarter =
        arith::TruncIOp::create(builder, loc, builder.getI32Type(), quarter);
  return {r, quarter};
}

/// Reduces with the bits of 2/pi. The result is arbitrary for NaN and infinity.
std::pair<Value, Value> Functions::multiplyBits(Value size) {
  Words w{builder, loc};
  Value raw = bits(size);
  SmallVector<Value> mantissa;
  Value high = raw;
  if (isDouble()) {
    Type i32 = builder.getI32Type();
    mantissa.push_back(arith::TruncIOp::create(builder, loc, i32, raw));
    high = arith::ShRUIOp::create(builder, loc, raw, integer(32));
    high = arith::TruncIOp::create(builder, loc, i32, high);
  }
  int64_t place = isDouble() ? 20 : 23;
  int64_t bias = isDouble() ? 1023 + 52 : 127 + 23;
  mantissa.push_back(w.lor(w.land(high, w.word((int64_t(1) << place) - 1)),
                           w.word(int64_t(1) << place)));
  int64_t least = bias - leading; // its window starts at bit 0
  int64_t largest = isDouble() ? 2046 : 254;
  Value shift = w.sub(w.shr(high, w.word(place)), w.word(least));
  // The closest number to a multiple of pi/2 leaves a fraction of 2^-30 (2^-61
  // for f64), so this many more bits are needed than the result has.
  SmallVector<Value> window =
      w.window(shift, largest - least, isDouble() ? 6 : 3);
  std::reverse(window.begin(), window.end());
  SmallVector<Value> product = w.multiply(mantissa, window);
  size_t used = isDouble() ? 4 : 2;
  // Round to the nearest quarter; the remainder may be negative.
  Value top = product.back();
  Value quarter = w.shr(w.add(top, w.word(int64_t(1) << 29)), w.word(30));
  product.back() = w.sub(top, w.shl(quarter, w.word(30)));
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, product.back(), w.word(0));
  Value flip =
      arith::SelectOp::create(builder, loc, isNegative, w.word(-1), w.word(0));
  Value r = constant(0);
  for (size_t i = used; i > 0; --i) {
    Value part =
        arith::XOrIOp::create(builder, loc, product[product.size() - i], flip);
    Value number = arith::UIToFPOp::create(builder, loc, type, part);
    r = add(r, mul(number, constant(std::ldexp(1.0, 2 - 32 * int(i)))));
  }
  r = mul(r, constant(M_PI_2));
  return {select(isNegative, sub(constant(0), r), r), quarter};
}

Functions::Angle Functions::reduceAngle(Value x) {
  Value size = abs(x);
  auto inBranch = [&](std::pair<Value, Value> (Functions::*reduce)(Value)) {
    return [this, size, reduce](OpBuilder &inner, Location at) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(inner.getInsertionBlock(),
                                inner.getInsertionPoint());
      auto [r, quarter] = (this->*reduce)(size);
      scf::YieldOp::create(builder, at, ValueRange{r, quarter});
    };
  };
  // Up to here, products with all parts of pi/2 but the last are exact.
  Value isSmall = less(size, constant(isDouble() ? 0x1p22 : 0x1p13));
  auto branch = scf::IfOp::create(builder, loc, isSmall,
                                  inBranch(&Functions::subtractQuarters),
                                  inBranch(&Functions::multiplyBits));
  Value r = select(less(size, constant(INFINITY)), branch.getResult(0),
                   constant(NAN));
  Value square = mul(r, r);
  SmallVector<double> sines = {-1.951668091e-04, 8.332173340e-03,
                               -1.666665524e-01};
  SmallVector<double> cosines = {2.443782432e-05, -1.388736186e-03,
                                 4.166664556e-02, -0.5};
  if (isDouble()) {
    sines.clear();
    cosines.clear();
    double factorial = 1;
    for (int n = 2; n <= 19; ++n) {
      factorial *= n;
      double term = (n / 2 % 2 ? -1 : 1) / factorial;
      (n % 2 ? sines : cosines).insert((n % 2 ? sines : cosines).begin(), term);
    }
  }
  Value s = add(mul(mul(polynomial(square, sines), square), r), r);
  Value c = add(mul(polynomial(square, cosines), square), constant(1));
  return {s, c, branch.getResult(1)};
}

Value Functions::isSet(Value word, int32_t bit) {
  Value mask =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(bit));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                               arith::AndIOp::create(builder, loc, word, mask),
                               zero);
}

/// Near zero, a sine equals its argument, including the sign of zero.
Value Functions::nearZero(Value x, Value result) {
  return select(less(abs(x), constant(isDouble() ? 1e-9 : 1e-4)), x, result);
}

Value Functions::sine(Value x, bool isCosine) {
  Angle angle = reduceAngle(x);
  Value odd = isSet(angle.quarter, 1), half = isSet(angle.quarter, 2);
  if (isCosine) {
    // cos(x + pi/2) = -sin x, so the result is negative in quarters 1 and 2.
    Value negative = arith::XOrIOp::create(builder, loc, odd, half);
    Value size = select(odd, angle.sine, angle.cosine);
    return select(negative, sub(constant(0), size), size);
  }
  Value size = select(odd, angle.cosine, angle.sine);
  Value negated = sub(constant(0), size);
  // sin(-x) = -sin x.
  Value below = less(x, constant(0));
  Value negative = arith::XOrIOp::create(builder, loc, half, below);
  return nearZero(x, select(negative, negated, size));
}

Value Functions::tan(Value x) {
  Angle angle = reduceAngle(x);
  Value odd = isSet(angle.quarter, 1);
  Value below = less(x, constant(0));
  // In odd quarters, the tangent is -cos r / sin r.
  Value negative = arith::XOrIOp::create(builder, loc, odd, below);
  Value size = div(select(odd, angle.cosine, angle.sine),
                   select(odd, angle.sine, angle.cosine));
  return nearZero(x, select(negative, sub(constant(0), size), size));
}
