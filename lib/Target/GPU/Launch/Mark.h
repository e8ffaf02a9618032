//===- Mark.h - undoes emitted code -----------------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LAUNCH_MARK_H
#define RELAX_TARGET_GPU_LAUNCH_MARK_H

#include "mlir/IR/Builders.h"

namespace mlir::relax {

/// Remembers a position of a builder, to erase code emitted from there on.
class Mark {
public:
  explicit Mark(OpBuilder &builder)
      : builder(builder), block(builder.getInsertionBlock()),
        end(&*builder.getInsertionPoint()), before(end->getPrevNode()) {}

  void takeBack() {
    while (end->getPrevNode() != before)
      end->getPrevNode()->erase();
    builder.setInsertionPoint(block, end->getIterator());
  }

  OpBuilder &builder;
  Block *block;
  Operation *end, *before;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LAUNCH_MARK_H
