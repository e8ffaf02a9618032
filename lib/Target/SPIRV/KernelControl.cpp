//===- KernelControl.cpp - control flow in SPIR-V -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Block arguments and results become variables.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

using namespace mlir;
using namespace mlir::relax;

void KernelEmitter::emitSelection(Value condition, function_ref<void()> then,
                                  function_ref<void()> otherwise) {
  auto selection = spirv::SelectionOp::create(builder, TypeRange(),
                                              spirv::SelectionControl::None);
  OpBuilder::InsertionGuard guard(builder);
  selection.addMergeBlock(builder);
  Region &region = selection.getBody();
  Block *merge = &region.front();
  Block *header = builder.createBlock(&region, region.begin());
  Block *first = builder.createBlock(merge);
  Block *second = otherwise ? builder.createBlock(merge) : merge;
  builder.setInsertionPointToEnd(header);
  spirv::BranchConditionalOp::create(builder, condition, first, ValueRange(),
                                     second, ValueRange());
  auto fill = [&](Block *block, function_ref<void()> emit) {
    builder.setInsertionPointToEnd(block);
    emit();
    spirv::BranchOp::create(builder, merge);
  };
  fill(first, then);
  if (otherwise)
    fill(second, otherwise);
}

LogicalResult KernelEmitter::emitIf(scf::IfOp op) {
  SmallVector<Value> results = makeVariables(op.getResultTypes());
  bool isEmitted = true;
  auto emit = [&](Block *source) {
    isEmitted = isEmitted && succeeded(emitBlock(*source));
    if (isEmitted)
      assign(results, source->getTerminator()->getOperands());
  };
  auto then = [&] { emit(op.thenBlock()); };
  auto otherwise = [&] { emit(op.elseBlock()); };
  emitSelection(scalarOf(op.getCondition()), then,
                op.elseBlock() ? function_ref<void()>(otherwise) : nullptr);
  if (!isEmitted)
    return failure();
  bindLoaded(op.getResults(), results);
  return success();
}

Block *KernelEmitter::beginLoop(spirv::LoopOp loop, Block *&merge,
                                Block *&next) {
  loop.addEntryAndMergeBlock(builder);
  merge = loop.getMergeBlock();
  Block *entry = loop.getEntryBlock();
  Block *header = builder.createBlock(merge);
  Block *first = builder.createBlock(merge);
  next = builder.createBlock(merge);
  builder.setInsertionPointToEnd(entry);
  spirv::BranchOp::create(builder, header);
  builder.setInsertionPointToEnd(header);
  spirv::BranchOp::create(builder, first);
  builder.setInsertionPointToEnd(next);
  spirv::BranchOp::create(builder, header);
  builder.setInsertionPointToEnd(first);
  return first;
}

LogicalResult KernelEmitter::emitFor(scf::ForOp op) {
  SmallVector<Value> carried = makeVariables(op.getResultTypes());
  Value counter = makeVariables(op.getInductionVar().getType()).front();
  assign(carried, op.getInitArgs());
  assign(counter, op.getLowerBound());
  Value to = scalarOf(op.getUpperBound()), step = scalarOf(op.getStep());
  auto loop = spirv::LoopOp::create(builder, spirv::LoopControl::None);
  OpBuilder::InsertionGuard guard(builder);
  Block *merge, *next;
  Block *first = beginLoop(loop, merge, next);
  Value at = read(counter);
  bind(op.getInductionVar(), {at});
  Value isInside = op.getUnsignedCmp()
                       ? Value(spirv::ULessThanOp::create(builder, at, to))
                       : Value(spirv::SLessThanOp::create(builder, at, to));
  Block *body = builder.createBlock(next);
  builder.setInsertionPointToEnd(first);
  spirv::BranchConditionalOp::create(builder, isInside, body, ValueRange(),
                                     merge, ValueRange());
  builder.setInsertionPointToEnd(body);
  bindLoaded(ValueRange(op.getRegionIterArgs()), carried);
  if (failed(emitBlock(*op.getBody())))
    return failure();
  assign(carried, op.getBody()->getTerminator()->getOperands());
  spirv::StoreOp::create(
      builder, counter, spirv::IAddOp::create(builder, at.getType(), at, step));
  spirv::BranchOp::create(builder, next);
  builder.setInsertionPointAfter(loop);
  bindLoaded(op.getResults(), carried);
  return success();
}

LogicalResult KernelEmitter::emitWhile(scf::WhileOp op) {
  SmallVector<Value> before =
      makeVariables(TypeRange(ValueRange(op.getBeforeArguments())));
  SmallVector<Value> after = makeVariables(op.getResultTypes());
  assign(before, op.getInits());
  auto loop = spirv::LoopOp::create(builder, spirv::LoopControl::None);
  OpBuilder::InsertionGuard guard(builder);
  Block *merge, *next;
  beginLoop(loop, merge, next);
  bindLoaded(ValueRange(op.getBeforeArguments()), before);
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  assign(after, condition.getArgs());
  Block *end = builder.getInsertionBlock();
  Block *body = builder.createBlock(next);
  builder.setInsertionPointToEnd(end);
  spirv::BranchConditionalOp::create(builder,
                                     scalarOf(condition.getCondition()), body,
                                     ValueRange(), merge, ValueRange());
  builder.setInsertionPointToEnd(body);
  bindLoaded(ValueRange(op.getAfterArguments()), after);
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  assign(before, op.getYieldOp().getOperands());
  spirv::BranchOp::create(builder, next);
  builder.setInsertionPointAfter(loop);
  bindLoaded(op.getResults(), after);
  return success();
}
