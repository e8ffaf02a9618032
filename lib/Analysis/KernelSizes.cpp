//===- KernelSizes.cpp - kernel sizes as symbolic expressions -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelSizes.h"

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

KernelSizes::KernelSizes(func::FuncOp kernel)
    : kernel(kernel), prover(kernel.getContext(),
                             SymbolFacts(kernel->getAttrOfType<DictionaryAttr>(
                                 RelaxDialect::kSymbolsAttr))),
      math(kernel.getContext()) {}

bool KernelSizes::isAtLeast(SymExprAttr expr, int64_t least) const {
  std::optional<int64_t> lower = prover.interval(expr).lower;
  return lower && *lower >= least;
}

SymExprAttr KernelSizes::get(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  SymExprAttr expr = compute(value);
  return known[value] = expr;
}

SymExprAttr KernelSizes::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isSignedIntN(64) ? math.constant(constant.getSExtValue())
                                     : SymExprAttr();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &kernel.getBody().front())
      return {};
    auto symbol = kernel.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), RelaxDialect::kSymbolAttr);
    return symbol ? math.symbol(symbol.getValue()) : SymExprAttr();
  }
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    return axis ? getDim(dim.getSource(), *axis) : SymExprAttr();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return getAffine(apply.getAffineMap().getResult(0),
                     apply.getAffineMap().getNumDims(), apply.getOperands());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    AffineMap map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
    SmallVector<SymExprAttr> operands;
    for (AffineExpr expr : map.getResults()) {
      operands.push_back(getAffine(expr, map.getNumDims(), op->getOperands()));
      if (!operands.back())
        return {};
    }
    return isa<affine::AffineMinOp>(op) ? math.min(operands)
                                        : math.max(operands);
  }
  return computeArith(op);
}

/// Whether the type can hold any size.
static bool isWide(Type type) { return type.isIndex() || type.isInteger(64); }

SymExprAttr KernelSizes::computeArith(Operation *op) {
  if (op->getNumResults() != 1 || !isWide(op->getResult(0).getType()) ||
      !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return {};
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return isWide(cast.getIn().getType()) ? get(cast.getIn()) : SymExprAttr();
  if (op->getNumOperands() != 2)
    return {};
  SymExprAttr lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  // For nonnegative operands, all rounding modes and signedness variants agree.
  bool natural = isAtLeast(lhs, 0) && isAtLeast(rhs, 0);
  return llvm::TypeSwitch<Operation *, SymExprAttr>(op)
      .Case([&](arith::AddIOp) { return math.add(lhs, rhs); })
      .Case([&](arith::SubIOp) { return math.sub(lhs, rhs); })
      .Case([&](arith::MulIOp) { return math.mul(lhs, rhs); })
      .Case([&](arith::FloorDivSIOp) {
        return divide(lhs, rhs, SymKind::FloorDiv);
      })
      .Case([&](arith::CeilDivSIOp) {
        return divide(lhs, rhs, SymKind::CeilDiv);
      })
      .Case([&](arith::MinSIOp) { return math.min({lhs, rhs}); })
      .Case([&](arith::MaxSIOp) { return math.max({lhs, rhs}); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation *) {
        return natural ? divide(lhs, rhs, SymKind::FloorDiv) : SymExprAttr();
      })
      .Case([&](arith::CeilDivUIOp) {
        return natural ? divide(lhs, rhs, SymKind::CeilDiv) : SymExprAttr();
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *) {
        return natural ? divide(lhs, rhs, SymKind::Mod) : SymExprAttr();
      })
      .Case([&](arith::MinUIOp) {
        return natural ? math.min({lhs, rhs}) : SymExprAttr();
      })
      .Case([&](arith::MaxUIOp) {
        return natural ? math.max({lhs, rhs}) : SymExprAttr();
      })
      .Default(SymExprAttr());
}

/// A quotient or remainder whose divisor is known not to be zero.
SymExprAttr KernelSizes::divide(SymExprAttr lhs, SymExprAttr rhs,
                                SymKind kind) {
  if (!isAtLeast(rhs, 1))
    return {};
  switch (kind) {
  case SymKind::FloorDiv:
    return math.floordiv(lhs, rhs);
  case SymKind::CeilDiv:
    return math.ceildiv(lhs, rhs);
  default:
    return math.mod(lhs, rhs);
  }
}

SymExprAttr KernelSizes::getAffine(AffineExpr expr, unsigned numDims,
                                   ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return math.constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return get(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return get(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  SymExprAttr lhs = getAffine(binary.getLHS(), numDims, operands),
              rhs = getAffine(binary.getRHS(), numDims, operands);
  if (!lhs || !rhs)
    return {};
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return math.add(lhs, rhs);
  case AffineExprKind::Mul:
    return math.mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return divide(lhs, rhs, SymKind::FloorDiv);
  case AffineExprKind::CeilDiv:
    return divide(lhs, rhs, SymKind::CeilDiv);
  case AffineExprKind::Mod:
    return divide(lhs, rhs, SymKind::Mod);
  default:
    return {};
  }
}

SymExprAttr KernelSizes::getDim(Value buffer, int64_t axis) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || axis < 0 || axis >= type.getRank())
    return {};
  if (!type.isDynamicDim(axis))
    return math.constant(type.getDimSize(axis));
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    if (argument.getOwner() != &kernel.getBody().front())
      return {};
    auto shape = kernel.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(),
                                                    RelaxDialect::kShapeAttr);
    return shape ? shape.getDims()[axis] : SymExprAttr();
  }
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return getDim(cast.getSource(), axis);
  // Dynamic sizes are operands.
  unsigned position = type.getDynamicDimIndex(axis);
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return get(alloc.getDynamicSizes()[position]);
  if (auto view = buffer.getDefiningOp<memref::ViewOp>())
    return get(view.getSizes()[position]);
  return {};
}
