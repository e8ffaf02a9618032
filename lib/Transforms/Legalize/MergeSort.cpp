//===- MergeSort.cpp - sorting within kernels -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/MergeSort.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = SmallVector<Value>;

Values relax::forLoop(ScalarBuilder &s, Value from, Value to, Value step,
                      ValueRange state, LoopBody body) {
  auto loop = scf::ForOp::create(
      s, from, to, step, state,
      [&](OpBuilder &builder, Location loc, Value index, ValueRange now) {
        ScalarBuilder inner(loc, builder);
        scf::YieldOp::create(inner, body(inner, index, now));
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value relax::readElement(ScalarBuilder &s, Value tensor, ValueRange position) {
  return tensor::ExtractOp::create(s, tensor, position);
}

Value relax::writeElement(ScalarBuilder &s, Value element, Value tensor,
                          ValueRange position) {
  return tensor::InsertOp::create(s, element, tensor, position);
}

Value relax::isLess(ScalarBuilder &s, Value lhs, Value rhs, Type element) {
  Type type = lhs.getType();
  if (!isa<FloatType>(type))
    return s.compare(isUnsignedElement(element) ? CmpIPredicate::ult
                                                : CmpIPredicate::slt,
                     lhs, rhs);
  lhs = s.convertFloat(lhs, getComputeType(type));
  rhs = s.convertFloat(rhs, getComputeType(type));
  Value onlyRightIsNaN = s.both(s.compare(CmpFPredicate::ORD, lhs, lhs),
                                s.compare(CmpFPredicate::UNO, rhs, rhs));
  return s.either(s.compare(CmpFPredicate::OLT, lhs, rhs), onlyRightIsNaN);
}

/// Merges the runs that start at `low` and `low + width`.
static Values merge(ScalarBuilder &s, Value count, Value from, Value to,
                    Value low, Value width, ValueRange scratch,
                    IsBefore isBefore) {
  Value one = s.index(1);
  Value middle = s.min(s.add(low, width), count);
  Value high = s.min(s.add(middle, width), count);
  Value lastLeft = s.sub(middle, one), lastRight = s.sub(high, one);
  Values state = {low, middle};
  llvm::append_range(state, scratch);
  Values merged = forLoop(
      s, low, high, one, state,
      [&](ScalarBuilder &s, Value index, ValueRange state) {
        Value left = state[0], right = state[1];
        ValueRange scratch = state.drop_front(2);
        // An exhausted run shows its last element, which is ignored.
        Value atLeft = s.min(left, lastLeft), atRight = s.min(right, lastRight);
        Value noLeft = s.compare(CmpIPredicate::sge, left, middle);
        Value hasRight = s.compare(CmpIPredicate::slt, right, high);
        Value goesFirst = isBefore(s, scratch, {from, atRight}, {from, atLeft});
        Value takesRight = s.both(hasRight, s.either(noLeft, goesFirst));
        Value source = s.select(takesRight, atRight, atLeft);
        Values next = {s.select(takesRight, left, s.add(left, one)),
                       s.select(takesRight, s.add(right, one), right)};
        for (Value tensor : scratch)
          next.push_back(writeElement(s, readElement(s, tensor, {from, source}),
                                      tensor, {to, index}));
        return next;
      });
  return Values(ArrayRef<Value>(merged).drop_front(2));
}

Sorted relax::mergeSort(ScalarBuilder &s, Value count, ValueRange scratch,
                        IsBefore isBefore) {
  Value zero = s.index(0), one = s.index(1);
  // The number of passes equals the number of bits in `count - 1`.
  Type i64 = s.getI64Type();
  Value last = s.sub(s.max(count, one), one);
  Value leadingZeros = math::CountLeadingZerosOp::create(
      s, arith::IndexCastOp::create(s, i64, last));
  Value passes = s.toIndex(s.sub(s.number(i64, 64), leadingZeros));
  Values sorted = forLoop(
      s, zero, passes, one, scratch,
      [&](ScalarBuilder &s, Value pass, ValueRange scratch) {
        Value from = arith::AndIOp::create(s, pass, one);
        Value to = s.sub(one, from);
        Value width = arith::ShLIOp::create(s, one, pass);
        return forLoop(s, zero, count, s.add(width, width), scratch,
                       [&](ScalarBuilder &s, Value low, ValueRange scratch) {
                         return merge(s, count, from, to, low, width, scratch,
                                      isBefore);
                       });
      });
  return {sorted, arith::AndIOp::create(s, passes, one)};
}
