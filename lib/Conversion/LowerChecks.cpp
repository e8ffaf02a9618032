//===- LowerChecks.cpp - run-time size checks in host code ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/FunctionLowering.h"
#include "Conversion/Slots.h"

#include "Relax/SymDirectives.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::relax;

void FunctionLowering::claim(Type type, ArrayRef<Value> &host,
                             const std::string &what,
                             SmallVectorImpl<Claim> &claims) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (auto [index, member] : llvm::enumerate(tuple.getTypes()))
      claim(member, host, what + ", member " + std::to_string(index), claims);
    return;
  }
  auto add = [&](SymExprAttr expr, Value actual, int64_t axis) {
    if (!expr || (expr.isSymbol() && symbols.define(expr, actual)))
      return;
    claims.push_back(
        {expr, actual, what + ": dimension " + std::to_string(axis)});
  };
  if (auto shape = dyn_cast<ShapeType>(type)) {
    for (auto [axis, dim] : llvm::enumerate(shape.getDims()))
      add(dim, host[axis], axis);
    host = host.drop_front(shape.getRank());
    return;
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [axis, dim] : llvm::enumerate(getSymDims(tensor)))
      if (cast<MemRefType>(host.front().getType()).isDynamicDim(axis))
        add(dim, builder.dim(host.front(), axis), axis);
  host = host.drop_front();
}

void FunctionLowering::checkEqual(Value actual, Value expected,
                                  const Twine &message) {
  builder.check(context,
                arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, actual,
                                      expected),
                "ValueError", functionName + ": " + message, actual, expected);
}

LogicalResult FunctionLowering::checkClaims(ArrayRef<Claim> claims) {
  for (const Claim &claim : claims) {
    Value expected = symbols.evaluate(claim.expr);
    if (!expected)
      return emitError(builder.getLoc())
             << "symbol of '" << claim.expr.str() << "' has no value here";
    if (expected == claim.actual)
      continue;
    std::string wanted =
        claim.expr.isConstant() ? "%1" : claim.expr.str() + " = %1";
    checkEqual(claim.actual, expected,
               claim.what + " must be " + wanted + ", got %0");
  }
  return success();
}

void FunctionLowering::checkRanges(FuncOp function) {
  DictionaryAttr ranges = function.getSymbolRanges();
  // Where each symbol is defined, for the message.
  llvm::MapVector<StringAttr, std::string> defined;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string name = describeArgument(argument);
    auto note = [&](StringAttr symbol) { defined.insert({symbol, name}); };
    walkDefinedSymbols(argument.getType(), note);
    if (auto symbol = function.getArgAttrOfType<StringAttr>(
            index, RelaxDialect::kSymbolAttr))
      note(symbol);
  }
  for (auto &[symbol, where] : defined) {
    Value value = symbols.lookup(
        SymExprAttr::getSymbol(builder.getContext(), symbol.getValue()));
    SymbolFacts::Range range = SymbolFacts(ranges).get(symbol);
    std::string what =
        functionName + ": " + where + ": symbol '" + symbol.str() + "' = %0 ";
    auto compare = [&](arith::CmpIPredicate predicate, int64_t bound,
                       StringRef message) {
      Value limit = builder.index(bound);
      Value holds = arith::CmpIOp::create(builder, predicate, value, limit);
      builder.check(context, holds, "ValueError", what + message.str(), value,
                    limit);
    };
    // Sizes of tensors and shapes are never negative.
    bool isSize = !value.getDefiningOp<arith::IndexCastOp>() &&
                  !isa<BlockArgument>(value);
    if (!isSize || range.lower > 0)
      compare(arith::CmpIPredicate::sge, range.lower,
              "is below its declared bound %1");
    if (range.upper)
      compare(arith::CmpIPredicate::sle, *range.upper,
              "exceeds its declared bound %1");
    if (range.multipleOf != 1) {
      Value divisor = builder.index(range.multipleOf);
      Value rest = arith::RemSIOp::create(builder, value, divisor);
      Value holds = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          rest, builder.index(0));
      builder.check(context, holds, "ValueError",
                    what + "is not a multiple of %1", value, divisor);
    }
  }
}

void FunctionLowering::checkNotNegative(Operation *op, SymExprAttr dim,
                                        Value size) {
  auto zero = SymExprAttr::getConstant(builder.getContext(), 0);
  Prover prover(builder.getContext(), SymbolFacts::at(op));
  if (prover.lessEqual(zero, dim) == Truth::Yes ||
      !checkedSizes.insert(size).second)
    return;
  std::string bound = getSufficientBound(dim);
  if (!bound.empty())
    bound = "; declare " + bound + " to remove this check";
  builder.check(context,
                arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, size,
                                      builder.index(0)),
                "ValueError",
                functionName + ": a dimension of size '" + dim.str() +
                    "' = %0 is negative" + bound,
                size);
}

LogicalResult FunctionLowering::lowerCheckIndices(CheckIndicesOp op) {
  if (deviceOf(op.getIndices()))
    return op.emitOpError() << "reads indices that are on a device; "
                               "relax-check-indices is for functions that run "
                               "on the host";
  Value tensor = getOne(op.getIndices());
  auto type = cast<MemRefType>(tensor.getType());
  SmallVector<SymExprAttr> bounds = getSymExprs(op.getBounds());
  // Arguments of the runtime: words and NUL-terminated strings.
  Values words{builder.index(type.getElementTypeBitWidth()),
               builder.index(op.getNonNegative() ? 0 : 1),
               builder.index(type.getRank()), builder.index(bounds.size())};
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    words.push_back(builder.dim(tensor, axis));
  std::string text = functionName + ": " + op.getCheckedOp().str();
  text.push_back('\0');
  text += op.getOperandName();
  for (auto [bound, target] :
       llvm::zip_equal(bounds, op.getTargets().getAsValueRange<StringAttr>())) {
    words.push_back(evaluate(op, bound));
    if (!words.back())
      return failure();
    text.push_back('\0');
    text += target;
    text += ", whose size is ";
    if (!bound.isConstant())
      text += bound.str() + " = ";
  }
  Value memory = builder.allocateWords(words.size());
  Slots(builder, memory).write(words);
  builder.call("relax_rt_check_indices", {},
               {context, builder.dataOf(tensor), memory, builder.string(text),
                builder.string(describeLocation(builder.getLoc()))});
  return success();
}
