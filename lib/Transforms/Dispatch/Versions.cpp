//===- Versions.cpp - function versioning ---------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Dispatch/Versions.h"

#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::relax;

/// Makes a private copy under an unused name.
static FuncOp copy(FuncOp function, StringRef suffix, SymbolTable &table) {
  auto copied = cast<FuncOp>(function->clone());
  copied.setSymName((function.getSymName() + suffix).str());
  copied.setPrivate();
  table.insert(copied, std::next(Block::iterator(function)));
  return copied;
}

FuncOp relax::makeVersions(FuncOp function, SymExprAttr value, int64_t least,
                           SymbolTable &table) {
  FuncOp few = copy(function, "_few", table);
  FuncOp many = copy(function, "_many", table);
  Block &body = function.getBody().front();
  while (!body.empty())
    body.back().erase();
  auto builder = OpBuilder::atBlockEnd(&body);
  Location loc = function.getLoc();
  Value size = SymOp::create(builder, loc, value);
  Value bound = arith::ConstantIndexOp::create(builder, loc, least);
  Value isLarge = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        size, bound);
  auto choice = IfOp::create(builder, loc, function.getResultTypes(), isLarge);
  for (auto [region, version] : {std::pair(&choice.getThenRegion(), many),
                                 std::pair(&choice.getElseRegion(), few)}) {
    builder.createBlock(region);
    auto call =
        CallOp::create(builder, loc, function.getResultTypes(),
                       FlatSymbolRefAttr::get(version.getSymNameAttr()),
                       function.getArguments(), ArrayAttr(), ArrayAttr());
    call.setPure(function.getPure());
    YieldOp::create(builder, loc, call->getResults());
  }
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, loc, choice->getResults());
  return many;
}
