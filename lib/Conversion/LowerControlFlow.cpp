//===- LowerControlFlow.cpp - branches and loops as host code -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/FunctionLowering.h"
#include "Transforms/Memory/Lifetimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FunctionLowering::Values FunctionLowering::convert(ArrayRef<Value> host,
                                                   Type type) {
  SmallVector<Type> types;
  (void)flattenType(type, types);
  Values result;
  for (auto [value, wanted] : llvm::zip_equal(host, types))
    result.push_back(isa<MemRefType>(wanted) ? builder.castTensor(value, wanted)
                                             : value);
  return result;
}

void FunctionLowering::retain(Value host) {
  if (Value storage = builder.storageOf(host))
    builder.call("relax_rt_retain", {}, {storage});
}

FunctionLowering::Values FunctionLowering::handOn(ValueRange operands,
                                                  TypeRange types) {
  Values result;
  for (auto [operand, type] : llvm::zip_equal(operands, types))
    for (Value value : convert(get(operand), type)) {
      retain(value);
      result.push_back(value);
    }
  return result;
}

void FunctionLowering::bind(ValueRange relaxValues, ValueRange host) {
  for (Value value : relaxValues) {
    size_t count = countHostValues(value.getType());
    set(value, Values(host.take_front(count)));
    host = host.drop_front(count);
  }
}

void FunctionLowering::setResults(Operation *op, ValueRange host,
                                  TypeRange types) {
  Values all(host.begin(), host.end());
  ArrayRef<Value> rest = all;
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    size_t count = countHostValues(type);
    set(result, convert(rest.take_front(count), result.getType()));
    rest = rest.drop_front(count);
  }
}

LogicalResult FunctionLowering::bindInplace(Operation *op, ValueRange operands,
                                            ArrayRef<int64_t> indices) {
  for (auto [result, index] : llvm::zip_equal(op->getResults(), indices)) {
    if (index < 0)
      return op->emitOpError()
             << "allocates a result; run relax-lower-call-tir first";
    for (Value written = operands[index]; written;
         written = getAliasedTensor(written))
      if (written.getDefiningOp<ConstantOp>())
        return op->emitOpError()
               << "writes into a constant; write into a copy of it";
    set(result, convert(get(operands[index]), result.getType()));
  }
  return success();
}

Value FunctionLowering::condition(Value value) {
  Value host = getOne(value);
  if (!isa<MemRefType>(host.getType()))
    return host;
  return arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ne, readElement(value, 0),
      arith::ConstantIntOp::create(builder, builder.getI8Type(), 0));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerIf(IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(flattenType(type, types)))
      return op.emitOpError()
             << "cannot be compiled with a result of type " << type;
  auto host = scf::IfOp::create(builder, types, condition(op.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       {std::pair(&op.getThenRegion(), &host.getThenRegion()),
        std::pair(&op.getElseRegion(), &host.getElseRegion())}) {
    builder.setInsertionPointToEnd(&to->front());
    symbols.enter();
    Values yielded;
    if (failed(lowerBlock(from->front(), [&](Operation *yield) {
          yielded = handOn(yield->getOperands(), op.getResultTypes());
        })))
      return failure();
    scf::YieldOp::create(builder, yielded);
    symbols.leave();
  }
  setResults(op, host.getResults(), op.getResultTypes());
  return success();
}

LogicalResult FunctionLowering::lowerWhile(WhileOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(flattenType(type, types)))
      return op.emitOpError() << "cannot be compiled with a carried value of "
                              << "type " << type;
  Values inits = handOn(op.getInits(), op.getResultTypes());
  auto host = scf::WhileOp::create(builder, types, inits);
  SmallVector<Location> locs(types.size(), op.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&host.getBefore(), {}, types, locs);
  Block &conditionBlock = op.getConditionRegion().front();
  bind(conditionBlock.getArguments(), before->getArguments());
  symbols.enter();
  Value goOn;
  if (failed(lowerBlock(conditionBlock, [&](Operation *terminator) {
        goOn = condition(cast<ConditionOp>(terminator).getCondition());
      })))
    return failure();
  scf::ConditionOp::create(builder, goOn, before->getArguments());
  symbols.leave();
  Block *after = builder.createBlock(&host.getAfter(), {}, types, locs);
  builder.call("relax_rt_poll", {}, {context});
  Block &body = op.getBody().front();
  bind(body.getArguments(), after->getArguments());
  symbols.enter();
  Values yielded;
  if (failed(lowerBlock(body, [&](Operation *yield) {
        yielded = handOn(yield->getOperands(), op.getResultTypes());
      })))
    return failure();
  scf::YieldOp::create(builder, yielded);
  symbols.leave();
  bind(op.getResults(), host.getResults());
  return success();
}
