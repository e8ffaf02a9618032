//===- DeduceShapes.cpp - deduce result types -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One forward sweep over each function, callees before callers:
//
//   op             its own deduction rule
//   relax.call     the callee's signature, unified with the operands
//   dataflow       the types of its outputs
//   if             the join of both branches, without their own symbols
//   while          an invariant of the loop, see `visitWhile`
//   function       the returned types, in terms of its parameters' symbols
//
// A type is changed only if it becomes finer. The sweep takes constant time per
// op and is idempotent; only functions with loops may need a few sweeps.
//
//===----------------------------------------------------------------------===//

#include "Analysis/CallOrder.h"
#include "Relax/CallUtils.h"
#include "Relax/DeductionScope.h"
#include "Relax/SymbolScope.h"
#include "Transforms/Passes.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::relax {
#define GEN_PASS_DEF_DEDUCESHAPESPASS
#include "Transforms/Shapes/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The signatures of a module's functions as seen by their callers.
class Signatures {
public:
  explicit Signatures(const SymbolTable &table) : table(table) {}

  FuncOp lookup(StringAttr name) const { return table.lookup<FuncOp>(name); }
  const Signature &of(FuncOp function) {
    auto [it, inserted] = known.try_emplace(function);
    if (inserted)
      it->second = Signature::of(cast<FunctionOpInterface>(*function));
    return it->second;
  }
  void invalidate(FuncOp function) { known.erase(function); }

private:
  const SymbolTable &table;
  DenseMap<Operation *, Signature> known;
};

class FunctionDeducer {
public:
  FunctionDeducer(FuncOp function, Signatures &signatures)
      : function(function), signatures(signatures),
        prover(function.getContext(), SymbolFacts::at(function)) {}

  LogicalResult run();
  bool hasChanged() const { return !changes.empty() || changedSignature; }

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visitOp(Operation &op);
  LogicalResult visitScope(Region &region);
  LogicalResult visitDeduced(Operation &op, InferTypeOpInterface rule);
  LogicalResult visitCall(Operation *call, const Signature &signature,
                          ValueRange operands);
  LogicalResult visitMatchCast(MatchCastOp cast);
  LogicalResult visitDataflow(DataflowOp dataflow);
  LogicalResult visitIf(IfOp op);
  LogicalResult visitWhile(WhileOp loop);
  LogicalResult visitReturn(ReturnOp op);

  /// Combines the declared and the deduced type of a value into the finer one;
  /// reports an error at `op` if they contradict each other.
  FailureOr<Type> refined(Operation *op, unsigned index, Type annotated,
                          Type deduced);
  LogicalResult refineResults(Operation *op, TypeRange deduced);
  void setType(Value value, Type type) {
    if (value.getType() == type)
      return;
    changes.push_back({value, value.getType()});
    value.setType(type);
  }
  void undo(size_t mark) {
    while (changes.size() > mark) {
      auto [value, type] = changes.pop_back_val();
      value.setType(type);
    }
  }
  Type keepVisible(Type type) {
    return keepSymbols(type,
                       [&](StringAttr name) { return visible.contains(name); });
  }

  FuncOp function;
  Signatures &signatures;
  Prover prover;
  VisibleSymbols visible;
  /// A log of all changes, with the previous types.
  SmallVector<std::pair<Value, Type>> changes;
  bool changedSignature = false;
  bool hasLoops = false;
  unsigned speculation = 0;
};

LogicalResult FunctionDeducer::run() {
  // Each sweep may refine an outer loop by the carried types of an inner one.
  constexpr unsigned kMaxSweeps = 8;
  function.walkParameterSymbols([&](StringAttr name) { visible.define(name); });
  for (unsigned sweep = 0; sweep < kMaxSweeps; ++sweep) {
    size_t before = changes.size(), parameters = visible.enter();
    if (failed(visitBlock(function.getBody().front())))
      return failure();
    visible.leave(parameters);
    if (!hasLoops || changes.size() == before)
      break;
  }
  return success();
}

LogicalResult FunctionDeducer::visitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(visitOp(op)))
      return failure();
  return success();
}

LogicalResult FunctionDeducer::visitOp(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](MatchCastOp op) { return visitMatchCast(op); })
      .Case([&](CallOp call) {
        FuncOp callee = signatures.lookup(call.getCalleeAttr().getAttr());
        if (!callee)
          return success();
        return visitCall(call, signatures.of(callee), call.getOperands());
      })
      .Case([&](CallClosureOp call) {
        auto type = cast<FunctionType>(call.getCallee().getType());
        return visitCall(call, Signature::of(type), call.getArgs());
      })
      .Case([&](DataflowOp op) { return visitDataflow(op); })
      .Case([&](IfOp op) { return visitIf(op); })
      .Case([&](WhileOp op) { return visitWhile(op); })
      .Case([&](ReturnOp op) { return visitReturn(op); })
      .Default([&](Operation *op) {
        if (auto rule = dyn_cast<InferTypeOpInterface>(op))
          if (isa_and_nonnull<RelaxDialect>(op->getDialect()))
            return visitDeduced(*op, rule);
        for (Region &region : op->getRegions())
          if (failed(visitScope(region)))
            return failure();
        return success();
      });
}

LogicalResult FunctionDeducer::visitScope(Region &region) {
  size_t outer = visible.enter();
  for (Block &block : region)
    if (failed(visitBlock(block)))
      return failure();
  visible.leave(outer);
  return success();
}

FailureOr<Type> FunctionDeducer::refined(Operation *op, unsigned index,
                                         Type annotated, Type deduced) {
  if (!deduced || deduced == annotated)
    return annotated;
  switch (implies(deduced, annotated, prover)) {
  case Truth::Yes: // equal dimensions keep the text that they were written with
    return meet(annotated, deduced);
  case Truth::Unknown:
    return meet(deduced, annotated);
  case Truth::No:
    break;
  }
  return op->emitOpError() << "result #" << index << " is declared as "
                           << annotated << ", but " << deduced << " is deduced";
}

LogicalResult FunctionDeducer::refineResults(Operation *op, TypeRange deduced) {
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (index >= deduced.size())
      break;
    FailureOr<Type> type = refined(op, index, result.getType(), deduced[index]);
    if (failed(type))
      return failure();
    if (*type != result.getType() && !isTypePinned(result))
      setType(result, *type);
  }
  return success();
}

LogicalResult FunctionDeducer::visitDeduced(Operation &op,
                                            InferTypeOpInterface rule) {
  SmallVector<Type, 2> deduced;
  DeductionScope scope(op.getParentOp());
  if (failed(rule.inferReturnTypes(op.getContext(), op.getLoc(),
                                   op.getOperands(), op.getRawDictionaryAttrs(),
                                   op.getPropertiesStorage(), op.getRegions(),
                                   deduced)))
    return failure();
  return refineResults(&op, deduced);
}

LogicalResult FunctionDeducer::visitCall(Operation *call,
                                         const Signature &signature,
                                         ValueRange operands) {
  FailureOr<SmallVector<Type>> deduced = deduceCall(call, signature, operands);
  return failed(deduced) ? failure() : refineResults(call, *deduced);
}

/// Fills unknown dimensions of `named` from `other`. Unlike in `meet`, known
/// dimensions of `named` stay: a cast checks and defines them.
Type fillOpen(Type named, Type other) {
  auto fillDims = [](ArrayRef<SymExprAttr> named, ArrayRef<SymExprAttr> other) {
    SymDims dims(named);
    for (auto [dim, known] : llvm::zip(dims, other))
      dim = dim ? dim : known;
    return dims;
  };
  auto tensor = dyn_cast<RankedTensorType>(named);
  auto otherTensor = dyn_cast<RankedTensorType>(other);
  if (tensor && otherTensor && tensor.getRank() == otherTensor.getRank())
    return getTensorType(fillDims(getSymDims(tensor), getSymDims(otherTensor)),
                         tensor.getElementType());
  auto shape = dyn_cast<ShapeType>(named);
  auto otherShape = dyn_cast<ShapeType>(other);
  if (shape && otherShape && shape.getRanked() && otherShape.getRanked() &&
      shape.getRank() == otherShape.getRank())
    return ShapeType::get(named.getContext(),
                          fillDims(shape.getDims(), otherShape.getDims()));
  auto tuple = dyn_cast<TupleType>(named);
  auto otherTuple = dyn_cast<TupleType>(other);
  if (tuple && otherTuple && tuple.size() == otherTuple.size()) {
    SmallVector<Type> members;
    for (auto [x, y] : llvm::zip(tuple.getTypes(), otherTuple.getTypes()))
      members.push_back(fillOpen(x, y));
    return TupleType::get(named.getContext(), members);
  }
  return meet(named, other);
}

LogicalResult FunctionDeducer::visitMatchCast(MatchCastOp cast) {
  Type type = cast.getType(), input = cast.getInput().getType();
  if (implies(input, type, prover) == Truth::No &&
      implies(type, input, prover) == Truth::No)
    return cast.emitOpError()
           << "can never hold: " << input << " is not a " << type;
  Type filled = fillOpen(type, input);
  if (filled != type && !isTypePinned(cast.getResult()))
    setType(cast.getResult(), filled);
  walkDefinedSymbols(cast.getType(),
                     [&](StringAttr name) { visible.define(name); });
  return success();
}

LogicalResult FunctionDeducer::visitDataflow(DataflowOp dataflow) {
  Block &block = dataflow.getBody().front();
  if (failed(visitBlock(block)))
    return failure();
  return refineResults(dataflow, block.getTerminator()->getOperandTypes());
}

LogicalResult FunctionDeducer::visitIf(IfOp op) {
  if (failed(visitScope(op.getThenRegion())) ||
      failed(visitScope(op.getElseRegion())))
    return failure();
  SmallVector<Type> deduced;
  for (auto [a, b] : llvm::zip(
           op.getThenRegion().front().getTerminator()->getOperandTypes(),
           op.getElseRegion().front().getTerminator()->getOperandTypes())) {
    // A symbol that both branches define differs between them.
    Type joined = join(keepVisible(a), keepVisible(b), prover);
    deduced.push_back(joined);
  }
  return refineResults(op, deduced);
}

/// Sets the types of the carried values of a loop.
template <typename SetType>
void setCarried(WhileOp loop, ArrayRef<Type> carried, SetType setType) {
  for (auto [index, type] : llvm::enumerate(carried)) {
    setType(loop.getResult(index), type);
    setType(loop.getConditionRegion().getArgument(index), type);
    setType(loop.getBody().getArgument(index), type);
  }
}

/// A carried value has one type in every iteration. The types of the initial
/// values are tried as an invariant: it holds if the body, deduced under it,
/// yields the same types. Otherwise it is weakened to the join of both, and
/// finally given up. A failed trial is undone, and its errors are not reported
/// to the user.
LogicalResult FunctionDeducer::visitWhile(WhileOp loop) {
  constexpr unsigned kMaxNestedTrials = 2; // keeps the sweep linear
  hasLoops = true;
  SmallVector<Type> declared(loop.getResultTypes()), carried;
  for (auto [index, init, type] :
       llvm::enumerate(loop.getInits().getTypes(), declared)) {
    bool pinned = isTypePinned(loop.getResult(index)) ||
                  isTypePinned(loop.getConditionRegion().getArgument(index)) ||
                  isTypePinned(loop.getBody().getArgument(index));
    carried.push_back(pinned ? type : meet(type, init));
  }
  auto visitRegions = [&] {
    return failure(failed(visitScope(loop.getConditionRegion())) ||
                   failed(visitScope(loop.getBody())));
  };
  for (unsigned trial = 0;
       trial < 3 && carried != declared && speculation < kMaxNestedTrials;
       ++trial) {
    size_t mark = changes.size(), outer = visible.enter();
    setCarried(loop, carried, [&](Value v, Type t) { setType(v, t); });
    LogicalResult result = success();
    {
      ScopedDiagnosticHandler silent(loop.getContext(),
                                     [](Diagnostic &) { return success(); });
      ++speculation;
      result = visitRegions();
      --speculation;
    }
    SmallVector<Type> next = declared;
    if (succeeded(result)) {
      TypeRange yielded =
          loop.getBody().front().getTerminator()->getOperandTypes();
      for (auto [index, have, want] : llvm::enumerate(yielded, carried)) {
        if (implies(have, want, prover) == Truth::Yes)
          next[index] = want;
        else if (Type weaker = join(want, keepVisible(have), prover);
                 weaker && trial == 0)
          next[index] = meet(declared[index], weaker);
      }
      if (next == carried)
        return success();
    }
    visible.leave(outer);
    undo(mark);
    carried = trial == 1 ? declared : next;
  }
  return visitRegions();
}

LogicalResult FunctionDeducer::visitReturn(ReturnOp op) {
  // Callers know only the symbols of the parameters.
  llvm::DenseSet<StringAttr> known;
  function.walkParameterSymbols([&](StringAttr name) { known.insert(name); });
  SmallVector<Type> results(function.getResultTypes());
  for (auto [index, result, type] :
       llvm::enumerate(results, op.getOperandTypes())) {
    if (function.getResultAttr(index, RelaxDialect::kShapeAttr))
      continue; // compatible with a plain tensor
    Type deduced = keepSymbols(
        type, [&](StringAttr name) { return known.contains(name); });
    FailureOr<Type> finer = refined(op, index, result, deduced);
    if (failed(finer))
      return failure();
    result = *finer;
  }
  FunctionType type = function.getFunctionType();
  if (TypeRange(results) == type.getResults())
    return success();
  function.setFunctionType(
      FunctionType::get(op.getContext(), type.getInputs(), results));
  signatures.invalidate(function);
  changedSignature = true;
  return success();
}

struct DeduceShapes : relax::impl::DeduceShapesPassBase<DeduceShapes> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    Signatures signatures(table);
    bool changed = false;
    for (FuncOp function : getCalleesFirst(getOperation(), table)) {
      FunctionDeducer deducer(function, signatures);
      if (failed(deducer.run()))
        return signalPassFailure();
      changed |= deducer.hasChanged();
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
