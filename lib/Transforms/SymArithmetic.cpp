//===- SymArithmetic.cpp - symbolic expressions as code -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/SymArithmetic.h"

#include "Relax/Notes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::relax;

Value SymArithmetic::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value SymArithmetic::add(Value lhs, Value rhs) {
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

Value SymArithmetic::multiply(Value lhs, Value rhs) {
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}

Value SymArithmetic::emit(SymExprAttr expr, ArrayRef<Value> operands) {
  auto fold = [&](auto combine) {
    return std::accumulate(operands.begin() + 1, operands.end(),
                           operands.front(), combine);
  };
  switch (expr.getKind()) {
  case SymKind::Constant:
  case SymKind::Symbol:
    break;
  case SymKind::Sum: {
    Value total;
    for (auto [operand, coefficient] :
         llvm::zip(operands, expr.getCoefficients())) {
      Value term =
          coefficient == 1 ? operand : multiply(operand, constant(coefficient));
      total = total ? add(total, term) : term;
    }
    return expr.getValue() ? add(total, constant(expr.getValue())) : total;
  }
  case SymKind::Product:
    return fold([&](Value lhs, Value rhs) { return multiply(lhs, rhs); });
  case SymKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, operands[0],
                                       checkDivisor(expr, operands[1]));
  case SymKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, operands[0],
                                      checkDivisor(expr, operands[1]));
  case SymKind::Mod: {
    // Rounded down, so that the remainder has the sign of the divisor.
    Value divisor = checkDivisor(expr, operands[1]);
    Value quotient =
        arith::FloorDivSIOp::create(builder, loc, operands[0], divisor);
    return arith::SubIOp::create(
        builder, loc, operands[0],
        arith::MulIOp::create(builder, loc, quotient, divisor));
  }
  case SymKind::Min:
    return fold([&](Value lhs, Value rhs) -> Value {
      return arith::MinSIOp::create(builder, loc, lhs, rhs);
    });
  case SymKind::Max:
    return fold([&](Value lhs, Value rhs) -> Value {
      return arith::MaxSIOp::create(builder, loc, lhs, rhs);
    });
  case SymKind::Broadcast:
    // The op that broadcasts must check that the sizes are compatible.
    return fold([&](Value lhs, Value rhs) -> Value {
      Value isOne = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, lhs, constant(1));
      return arith::SelectOp::create(builder, loc, isOne, rhs, lhs);
    });
  }
  llvm_unreachable("constants and symbols have no operands");
}

std::string relax::getSufficientBound(SymExprAttr expr) {
  // coefficient * symbol + constant >= 0
  int64_t coefficient = 1, constant = 0;
  if (expr && expr.getKind() == SymKind::Sum &&
      expr.getOperands().size() == 1) {
    coefficient = expr.getCoefficients().front();
    constant = expr.getValue();
    expr = expr.getOperands().front();
  }
  if (!expr || !expr.isSymbol())
    return {};
  std::string name = expr.getName().getValue().str();
  if (coefficient > 0)
    return name + " >= " +
           std::to_string(llvm::divideCeilSigned(-constant, coefficient));
  return name + " <= " +
         std::to_string(llvm::divideFloorSigned(constant, -coefficient));
}

Value SizeBuilder::get(SymExprAttr expr) {
  if (Value value = values.lookup(expr))
    return value;
  Value value = compute(expr);
  values[expr] = value;
  return value;
}

Value SizeBuilder::compute(SymExprAttr expr) {
  if (expr.isConstant())
    return arith::ConstantIndexOp::create(builder, loc, expr.getValue());
  assert(!expr.isSymbol() && "symbols must be defined");
  SmallVector<Value> operands = llvm::map_to_vector(
      expr.getOperands(), [&](SymExprAttr operand) { return get(operand); });
  computed.push_back(expr);
  return SymArithmetic(builder, loc).emit(expr, operands);
}

/// Whether evaluating `expr` may overflow 64 bits or be undefined, given the
/// values of its operands.
static bool mayFail(SymExprAttr expr) {
  switch (expr.getKind()) {
  case SymKind::Sum:
  case SymKind::Product:
    return true;
  case SymKind::FloorDiv:
  case SymKind::CeilDiv:
  case SymKind::Mod:
    return !expr.getOperands()[1].isConstant();
  default:
    return false;
  }
}

void relax::noteComputedSizes(func::FuncOp kernel,
                              ArrayRef<SymExprAttr> computed) {
  // Computing an expression computes its operands, too.
  llvm::SmallSetVector<Attribute, 4> noted;
  for (SymExprAttr expr : llvm::reverse(computed)) {
    bool isOperand = llvm::any_of(noted, [&](Attribute other) {
      return llvm::is_contained(cast<SymExprAttr>(other).getOperands(), expr);
    });
    if (mayFail(expr) && !isOperand)
      noted.insert(expr);
  }
  if (!noted.empty())
    kernel->setAttr(notes::kComputedSizes,
                    ArrayAttr::get(kernel.getContext(), noted.getArrayRef()));
}
