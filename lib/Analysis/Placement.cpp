//===- Placement.cpp - which tensors are on the host ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement.h"

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Manipulate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

/// Reads `relax.device`; nullopt if the attribute is missing.
static std::optional<bool> isHost(Attribute attribute) {
  auto place = dyn_cast_or_null<StringAttr>(attribute);
  if (!place)
    return std::nullopt;
  return place == notes::kHostPlace;
}

bool relax::runsOnHost(FuncOp function) {
  return isHost(function->getAttr(notes::kDevice)).value_or(false);
}

bool relax::isParameterOnHost(FuncOp function, unsigned index) {
  return isHost(function.getArgAttr(index, notes::kDevice))
      .value_or(runsOnHost(function));
}

bool relax::isResultOnHost(FuncOp function, unsigned index) {
  return isHost(function.getResultAttr(index, notes::kDevice))
      .value_or(runsOnHost(function));
}

bool relax::isStorageOnHost(AllocStorageOp op) {
  return isHost(op->getAttr(notes::kDevice))
      .value_or(runsOnHost(op->getParentOfType<FuncOp>()));
}

static void findSides(FuncOp function, SymbolTableCollection &tables,
                      Sides &sides, DenseSet<Operation *> &seen) {
  if (!seen.insert(function).second)
    return;
  (runsOnHost(function) ? sides.host : sides.device) = true;
  function.walk([&](Operation *op) {
    if (auto place = isHost(op->getAttr(notes::kDevice));
        place && op != function)
      (*place ? sides.host : sides.device) = true;
    if (auto copy = dyn_cast<ToDeviceOp>(op))
      (*isHost(copy.getPlaceAttr()) ? sides.host : sides.device) = true;
    FlatSymbolRefAttr callee;
    if (auto call = dyn_cast<CallOp>(op))
      callee = call.getCalleeAttr();
    else if (auto closure = dyn_cast<MakeClosureOp>(op))
      callee = closure.getCalleeAttr();
    if (!callee)
      return;
    if (auto other = tables.lookupNearestSymbolFrom<FuncOp>(op, callee))
      ::findSides(other, tables, sides, seen);
  });
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto place = isHost(function.getArgAttr(index, notes::kDevice)))
      (*place ? sides.host : sides.device) = true;
}

Sides relax::findSides(FuncOp function, SymbolTableCollection &tables) {
  Sides sides;
  DenseSet<Operation *> seen;
  ::findSides(function, tables, sides, seen);
  return sides;
}

/// Whether values of this type live in host or device memory.
static bool isPlaced(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), isPlaced);
  return isa<TensorType, StorageType>(type);
}

static StringRef nameOf(bool host) { return host ? "host" : "device"; }

namespace mlir::relax {

class PlacementBuilder {
public:
  PlacementBuilder(FuncOp function, SymbolTableCollection &tables)
      : function(function), tables(tables), native(runsOnHost(function)) {}

  FailureOr<Placement> build() {
    if (function.isExternal())
      return placement;
    for (BlockArgument argument : function.getArguments())
      place(argument, isParameterOnHost(function, argument.getArgNumber()));
    for (Block &block : function.getBody())
      if (failed(visit(block)))
        return failure();
    return placement;
  }

private:
  void place(Value value, bool host) {
    if (host && isPlaced(value.getType()))
      placement.onHost.insert(value);
  }
  bool isOnHost(Value value) const { return placement.isOnHost(value); }

  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(op)))
        return failure();
    return success();
  }

  /// Requires an operand to be on the given side; `who` is named in the error.
  LogicalResult require(OpOperand &operand, bool host, const Twine &who) {
    Value value = operand.get();
    if (!isPlaced(value.getType()) || isOnHost(value) == host)
      return success();
    Operation *op = operand.getOwner();
    InFlightDiagnostic error = op->emitOpError()
                               << "operand " << operand.getOperandNumber()
                               << " is on the " << nameOf(isOnHost(value))
                               << ", and " << who << " the " << nameOf(host)
                               << "; insert relax.to_device to \""
                               << nameOf(host) << "\"";
    if (Operation *made = value.getDefiningOp())
      error.attachNote(made->getLoc()) << "made here";
    return failure();
  }

  /// Requires all operands of `op` from `first` on to be on the same side as
  /// the corresponding value of `places`.
  LogicalResult requireLike(Operation *op, ValueRange places,
                            const Twine &who) {
    for (auto [operand, like] : llvm::zip(op->getOpOperands(), places))
      if (failed(require(operand, isOnHost(like), who)))
        return failure();
    return success();
  }

  void placeLike(ValueRange values, ValueRange places) {
    for (auto [value, like] : llvm::zip(values, places))
      place(value, isOnHost(like));
  }

  LogicalResult visit(Operation &op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case([&](ToDeviceOp op) {
          place(op.getResult(), *isHost(op.getPlaceAttr()));
          return success();
        })
        .Case([&](AllocStorageOp op) {
          place(op.getStorage(), isStorageOnHost(op));
          return success();
        })
        .Case<CallLibraryOp, CallLibraryInplaceOp>(
            [&](Operation *op) { return visitLibraryCall(op); })
        .Case([&](CallOp op) { return visitCall(op); })
        .Case([&](MakeClosureOp op) { return visitClosure(op); })
        .Case([&](IfOp op) { return visitIf(op); })
        .Case([&](WhileOp op) { return visitWhile(op); })
        .Case([&](DataflowOp op) -> LogicalResult {
          if (failed(visit(op.getBody().front())))
            return failure();
          placeLike(op->getResults(),
                    op.getBody().front().getTerminator()->getOperands());
          return success();
        })
        // The result is a view of the operand.
        .Case<MatchCastOp, ReshapeOp, FlattenOp, ExpandDimsOp, SqueezeOp,
              TensorFromStorageOp, GetOp>([&](Operation *op) {
          place(op->getResult(0), isOnHost(op->getOperand(0)));
          return success();
        })
        .Case([&](TupleOp op) -> LogicalResult {
          for (OpOperand &operand : op->getOpOperands())
            if (failed(require(operand, isOnHost(op->getOperand(0)),
                               "the first member is on")))
              return failure();
          if (op->getNumOperands())
            place(op.getResult(), isOnHost(op->getOperand(0)));
          return success();
        })
        // These ops read no elements, or read them in host code.
        .Case<KillOp, ShapeOfOp, DimOp, AssertOp, ConditionOp, TensorToShapeOp,
              OutputOp, YieldOp>([](Operation *) { return success(); })
        .Case([&](ReturnOp op) -> LogicalResult {
          for (OpOperand &operand : op->getOpOperands())
            if (failed(require(
                    operand,
                    isResultOnHost(function, operand.getOperandNumber()),
                    "the function returns it on")))
              return failure();
          return success();
        })
        .Default([&](Operation *op) -> LogicalResult {
          for (OpOperand &operand : op->getOpOperands())
            if (failed(require(operand, native, "the function runs on")))
              return failure();
          for (Value result : op->getResults())
            place(result, native);
          return success();
        });
  }

  /// The attribute of a copy says where its result is; other libraries work on
  /// the side that the function runs on.
  LogicalResult visitLibraryCall(Operation *op) {
    std::optional<bool> copied = isHost(op->getAttr(notes::kDevice));
    for (OpOperand &operand : op->getOpOperands()) {
      if (copied && operand.getOperandNumber() == 0)
        continue;
      if (failed(require(operand, copied.value_or(native),
                         copied ? "it is copied to" : "the function runs on")))
        return failure();
    }
    for (Value result : op->getResults())
      place(result, copied.value_or(native));
    return success();
  }

  LogicalResult visitCall(CallOp op) {
    auto callee =
        tables.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
    if (!callee)
      return success(); // reported by the call's verifier
    for (OpOperand &operand : op->getOpOperands())
      if (failed(require(operand,
                         isParameterOnHost(callee, operand.getOperandNumber()),
                         "'@" + op.getCallee() + "' takes it on")))
        return failure();
    for (OpResult result : op->getResults())
      place(result, isResultOnHost(callee, result.getResultNumber()));
    return success();
  }

  /// A caller of a closure knows only its type, which does not say where
  /// tensors are.
  LogicalResult visitClosure(MakeClosureOp op) {
    auto callee =
        tables.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
    if (!callee)
      return success();
    bool isPlain = true;
    for (unsigned index = 0; index < callee.getNumArguments(); ++index)
      isPlain &= isParameterOnHost(callee, index) == native;
    for (unsigned index = 0; index < callee.getResultTypes().size(); ++index)
      isPlain &= isResultOnHost(callee, index) == native;
    if (runsOnHost(callee) != native || !isPlain)
      return op.emitOpError()
             << "'@" << op.getCallee()
             << "' must run, and have its parameters and results, on the "
             << nameOf(native)
             << ", as the function that makes the callable; call it with "
                "relax.call";
    for (OpOperand &operand : op->getOpOperands())
      if (failed(require(operand, native, "the function runs on")))
        return failure();
    return success();
  }

  LogicalResult visitIf(IfOp op) {
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()})
      if (failed(visit(region->front())))
        return failure();
    Operation *first = op.getThenRegion().front().getTerminator();
    Operation *second = op.getElseRegion().front().getTerminator();
    placeLike(op->getResults(), first->getOperands());
    return requireLike(second, first->getOperands(),
                       "the other branch yields it on");
  }

  LogicalResult visitWhile(WhileOp op) {
    for (Region *region : {&op.getConditionRegion(), &op.getBody()}) {
      placeLike(region->front().getArguments(), op.getInits());
      if (failed(visit(region->front())))
        return failure();
    }
    placeLike(op->getResults(), op.getInits());
    return requireLike(op.getBody().front().getTerminator(), op.getInits(),
                       "the loop begins with it on");
  }

  FuncOp function;
  SymbolTableCollection &tables;
  const bool native;
  Placement placement;
};

} // namespace mlir::relax

FailureOr<Placement> Placement::of(FuncOp function,
                                   SymbolTableCollection &tables) {
  return PlacementBuilder(function, tables).build();
}

LogicalResult relax::checkPlaces(ModuleOp module) {
  SymbolTableCollection tables;
  bool isRight = true;
  for (FuncOp function : module.getOps<FuncOp>())
    isRight &= succeeded(Placement::of(function, tables));
  return success(isRight);
}
