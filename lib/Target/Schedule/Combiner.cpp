//===- Combiner.cpp - how a reduction combines values ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/Combiner.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

using arith::AtomicRMWKind;

static std::optional<AtomicRMWKind> kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<AtomicRMWKind>>(op)
      .Case<arith::AddFOp>([](auto) { return AtomicRMWKind::addf; })
      .Case<arith::MulFOp>([](auto) { return AtomicRMWKind::mulf; })
      .Case<arith::MaximumFOp>([](auto) { return AtomicRMWKind::maximumf; })
      .Case<arith::MinimumFOp>([](auto) { return AtomicRMWKind::minimumf; })
      .Case<arith::MaxNumFOp>([](auto) { return AtomicRMWKind::maxnumf; })
      .Case<arith::MinNumFOp>([](auto) { return AtomicRMWKind::minnumf; })
      .Case<arith::AddIOp>([](auto) { return AtomicRMWKind::addi; })
      .Case<arith::MulIOp>([](auto) { return AtomicRMWKind::muli; })
      .Case<arith::MaxSIOp>([](auto) { return AtomicRMWKind::maxs; })
      .Case<arith::MinSIOp>([](auto) { return AtomicRMWKind::mins; })
      .Case<arith::MaxUIOp>([](auto) { return AtomicRMWKind::maxu; })
      .Case<arith::MinUIOp>([](auto) { return AtomicRMWKind::minu; })
      .Case<arith::AndIOp>([](auto) { return AtomicRMWKind::andi; })
      .Case<arith::OrIOp>([](auto) { return AtomicRMWKind::ori; })
      .Case<arith::XOrIOp>([](auto) { return AtomicRMWKind::xori; })
      .Default([](auto) { return std::nullopt; });
}

std::optional<Combiner> Combiner::match(linalg::GenericOp op, unsigned number) {
  Block *body = op.getBody();
  BlockArgument before = body->getArgument(op.getNumDpsInputs() + number);
  Operation *last = body->getTerminator()->getOperand(number).getDefiningOp();
  if (!last || last->getBlock() != body || !before.hasOneUse() ||
      *before.user_begin() != last || last->getNumOperands() != 2)
    return std::nullopt;
  Type type = before.getType();
  if (type.isIndex() || !last->getResult(0).hasOneUse())
    return std::nullopt;
  std::optional<AtomicRMWKind> kind = kindOf(last);
  if (!kind)
    return std::nullopt;
  return Combiner{*kind};
}

Value Combiner::identity(OpBuilder &builder, Location loc,
                         VectorType type) const {
  TypedAttr value;
  Type element = type.getElementType();
  if (kind == AtomicRMWKind::xori)
    value = builder.getZeroAttr(element);
  else
    value = arith::getIdentityValueAttr(kind, element, builder, loc);
  return arith::ConstantOp::create(builder, loc, type,
                                   DenseElementsAttr::get(type, value));
}

Value Combiner::combine(OpBuilder &builder, Location loc, Value lhs,
                        Value rhs) const {
  if (kind == AtomicRMWKind::xori)
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  return arith::getReductionOp(kind, builder, loc, lhs, rhs);
}

Value Combiner::reduce(OpBuilder &builder, Location loc, Value vector) const {
  auto kindOfVector = [&] {
    switch (kind) {
    case AtomicRMWKind::addf:
    case AtomicRMWKind::addi:
      return vector::CombiningKind::ADD;
    case AtomicRMWKind::mulf:
    case AtomicRMWKind::muli:
      return vector::CombiningKind::MUL;
    case AtomicRMWKind::maximumf:
      return vector::CombiningKind::MAXIMUMF;
    case AtomicRMWKind::minimumf:
      return vector::CombiningKind::MINIMUMF;
    case AtomicRMWKind::maxnumf:
      return vector::CombiningKind::MAXNUMF;
    case AtomicRMWKind::minnumf:
      return vector::CombiningKind::MINNUMF;
    case AtomicRMWKind::maxs:
      return vector::CombiningKind::MAXSI;
    case AtomicRMWKind::mins:
      return vector::CombiningKind::MINSI;
    case AtomicRMWKind::maxu:
      return vector::CombiningKind::MAXUI;
    case AtomicRMWKind::minu:
      return vector::CombiningKind::MINUI;
    case AtomicRMWKind::andi:
      return vector::CombiningKind::AND;
    case AtomicRMWKind::ori:
      return vector::CombiningKind::OR;
    default:
      return vector::CombiningKind::XOR;
    }
  };
  return vector::ReductionOp::create(builder, loc, kindOfVector(), vector,
                                     arith::FastMathFlags::reassoc);
}
