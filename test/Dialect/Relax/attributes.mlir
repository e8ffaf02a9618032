// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// Expressions are printed in canonical form.
// CHECK-LABEL: relax.func private @expressions()
// CHECK-SAME:    a = #relax.expr<7>
// CHECK-SAME:    b = #relax.expr<2*m*n + n + 1>
// CHECK-SAME:    c = #relax.expr<(n + 3) floordiv 4>
// CHECK-SAME:    d = #relax.expr<max(m, n)>
relax.func private @expressions() attributes {a = #relax.expr<3 + 4>, b = #relax.expr<1 + n + 2 * n * m>, c = #relax.expr<(n + 3) floordiv 4>, d = #relax.expr<max(n, m, n)>}

// CHECK-LABEL: relax.func private @ranges(
// CHECK-SAME:    a = #relax.range<1, 2048>, b = #relax.range<0>, c = #relax.range<0, multiple_of = 16>, d = #relax.range<-4, 4096, multiple_of = 2>
relax.func private @ranges() attributes {ranges = {a = #relax.range<1, 2048>, b = #relax.range<0, *>, c = #relax.range<0, multiple_of = 16>, d = #relax.range<-4, 4096, multiple_of = 2>}}

// CHECK-LABEL: relax.func private @others()
// CHECK-SAME:    shape = #relax.shape<[n, ?, 4]>, weight = #relax.weight<"model.w">
relax.func private @others() attributes {shape = #relax.shape<[n, ?, 4]>, weight = #relax.weight<"model.w">}
