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
    SmallVector<FuncOp> callees; // not yet visited
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
