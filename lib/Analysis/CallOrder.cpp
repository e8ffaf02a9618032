//===- CallOrder.cpp - callees before their callers -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/CallOrder.h"

using namespace mlir;
using namespace mlir::relax;

SmallVector<FuncOp> relax::getCalleesFirst(ModuleOp module,
                                           SymbolTable &table) {
  struct Frame {
    FuncOp function;
    SmallVector<FuncOp> callees; // callees not visited yet
  };
  SmallVector<FuncOp> order;
  SmallVector<Frame> stack;
  DenseSet<Operation *> seen;
  auto enter = [&](FuncOp function) {
    if (function.isExternal() || !seen.insert(function).second)
      return;
    Frame frame{function, {}};
    function.walk([&](CallOp call) {
      if (auto callee = table.lookup<FuncOp>(call.getCallee()))
        frame.callees.push_back(callee);
    });
    stack.push_back(std::move(frame));
  };
  for (FuncOp function : module.getOps<FuncOp>()) {
    enter(function);
    while (!stack.empty()) {
      if (stack.back().callees.empty())
        order.push_back(stack.pop_back_val().function);
      else
        enter(stack.back().callees.pop_back_val());
    }
  }
  return order;
}

DenseSet<FuncOp> relax::findRecursive(ModuleOp module) {
  SymbolTable table(module);
  DenseMap<FuncOp, SmallVector<FuncOp>> callers;
  DenseMap<FuncOp, unsigned> callees;
  DenseSet<FuncOp> result;
  for (FuncOp function : module.getOps<FuncOp>()) {
    callees[function] = 0;
    result.insert(function);
  }
  for (FuncOp function : module.getOps<FuncOp>())
    function.walk([&](Operation *op) {
      FuncOp callee;
      if (auto call = dyn_cast<CallOp>(op))
        callee = table.lookup<FuncOp>(call.getCallee());
      else if (auto closure = dyn_cast<MakeClosureOp>(op))
        callee = table.lookup<FuncOp>(closure.getCallee());
      else if (isa<CallClosureOp>(op))
        ++callees[function]; // an unknown callee, never taken out
      if (!callee)
        return;
      callers[callee].push_back(function);
      ++callees[function];
    });
  // Repeatedly takes out the functions whose callees have all been taken out.
  SmallVector<FuncOp> ready;
  for (auto [function, count] : callees)
    if (count == 0)
      ready.push_back(function);
  while (!ready.empty()) {
    FuncOp function = ready.pop_back_val();
    result.erase(function);
    for (FuncOp caller : callers.lookup(function))
      if (--callees[caller] == 0)
        ready.push_back(caller);
  }
  return result;
}
