//===- RelaxDialect.h - the relax dialect -----------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXDIALECT_H
#define RELAX_RELAXDIALECT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dialect.h"

#include "Relax/RelaxDialect.h.inc"

#endif // RELAX_RELAXDIALECT_H
