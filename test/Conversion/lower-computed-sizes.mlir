// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sizes that a kernel computes from its symbols are computed on the host before the call, with checks.

// RUN: split-file %s %t
// RUN: relax-opt %t/known.mlir -relax-lower-to-host | FileCheck %s
// RUN: not relax-opt %t/unknown.mlir -relax-lower-to-host 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: 'm floordiv n' divides by zero
// CHECK-LABEL: func.func private @relax.graph.main
// CHECK: arith.cmpi ne
// CHECK: call @relax.kernel.count

// UNKNOWN: which computes 'r' of symbols that it does not have

//--- known.mlir
func.func private @count(%d: memref<i64>, %q: index {relax.symbol = "q"}, %r: index {relax.symbol = "r"}) attributes {relax.computed_sizes = [#relax.expr<q floordiv r>]} {
  return
}
relax.func @main(%m: index {relax.symbol = "m"}, %n: index {relax.symbol = "n"}) -> tensor<i64> {
  %s = relax.alloc_storage 8 align 64 : !relax.storage
  %0 = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<i64>
  %1 = relax.call_tir_inplace @count(%0) inplace [0] sym [m, n] : (tensor<i64>) -> tensor<i64>
  relax.return %1 : tensor<i64>
}

//--- unknown.mlir
func.func private @count(%d: memref<i64>) attributes {relax.computed_sizes = [#relax.expr<r>]} {
  return
}
relax.func @main() -> tensor<i64> {
  %s = relax.alloc_storage 8 align 64 : !relax.storage
  %0 = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<i64>
  %1 = relax.call_tir_inplace @count(%0) inplace [0] : (tensor<i64>) -> tensor<i64>
  relax.return %1 : tensor<i64>
}
