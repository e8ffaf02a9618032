// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=4096' 2>&1 | FileCheck %s --check-prefix=UPPER
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=0' 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=24' 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=q=1' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=4x' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=99999999999999999999' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=16,n=32' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not relax-opt %t/range.mlir -relax-bind-symbols='symbols=n=16 function=g' 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not relax-opt %t/negative.mlir -relax-bind-symbols='symbols=n=2' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not relax-opt %t/negative.mlir -relax-bind-symbols='symbols=n=-1' 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not relax-opt %t/overflow.mlir -relax-bind-symbols='symbols=n=4294967296' 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not relax-opt %t/zero.mlir -relax-bind-symbols='symbols=n=0' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not relax-opt %t/call.mlir -relax-bind-symbols='symbols=n=8' 2>&1 | FileCheck %s --check-prefix=CALL

// UPPER: error: cannot bind symbol 'n' of @main to 4096: its upper bound is 2048
// LOWER: error: cannot bind symbol 'n' of @main to 0: its lower bound is 1
// MULTIPLE: error: cannot bind symbol 'n' of @main to 24: it is a multiple of 16
// UNKNOWN: error: unknown symbol 'q'; there are: n, m
// VALUE: binds no symbol: expected 'name=integer'
// TWICE: error: symbol 'n' is bound twice
// FUNCTION: error: 'g' is not a relax.func
// NEGATIVE: error: binding symbols of @main: dimension n - 4 becomes negative: -2
// SIZE: error: cannot bind symbol 'n' of @main to -1: its lower bound is 0
// OVERFLOW: error: binding symbols of @main: {{.*}}overflow
// ZERO: error: binding symbols of @main: {{.*}}zero
// CALL: error: 'relax.call' op dimension 0 of argument 0: expected 8, got 4

//--- range.mlir
relax.func @main(%x: tensor<?x?xf32, #relax.shape<[n, m]>>) attributes {relax.symbols = {n = #relax.range<1, 2048, multiple_of = 16>}} {
  relax.return
}
//--- negative.mlir
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[n - 4]>>) {
  relax.return
}
//--- overflow.mlir
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> index {
  %0 = relax.sym n*n : index
  relax.return %0 : index
}
//--- zero.mlir
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> index {
  %0 = relax.sym 7 floordiv n : index
  relax.return %0 : index
}
//--- call.mlir
relax.func @main(%x: tensor<4xf32>) {
  relax.call @callee(%x) : (tensor<4xf32>) -> ()
  relax.return
}
relax.func private @callee(%x: tensor<?xf32, #relax.shape<[n]>>) {
  relax.return
}
