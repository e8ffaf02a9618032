//===- Booleans.cpp - booleans in memory ----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Booleans.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

Value relax::bytesOfBooleans(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.getElementType().isInteger(1))
    return buffer;
  // Both types lower to the same descriptor.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(buffer);
  return UnrealizedConversionCastOp::create(
             builder, loc, type.clone(builder.getI8Type()), buffer)
      .getResult(0);
}

void relax::storeBooleansAsBytes(Operation *root) {
  SmallVector<Operation *> accesses;
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      if (load.getType().isInteger(1))
        accesses.push_back(op);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      if (store.getValueToStore().getType().isInteger(1))
        accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value bytes = bytesOfBooleans(builder, loc, load.getMemRef());
      Value byte =
          memref::LoadOp::create(builder, loc, bytes, load.getIndices());
      Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
      load.replaceAllUsesWith(Value(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne, byte, zero)));
    } else {
      auto store = cast<memref::StoreOp>(op);
      Value bytes = bytesOfBooleans(builder, loc, store.getMemRef());
      Value byte = arith::ExtUIOp::create(builder, loc, builder.getI8Type(),
                                          store.getValueToStore());
      memref::StoreOp::create(builder, loc, byte, bytes, store.getIndices());
    }
    op->erase();
  }
}
