// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// A symbol defined by a cast is visible after it, also in branches.
// CHECK-LABEL: relax.func @order(
relax.func @order(%c: i1, %x: tensor<?xf32>) -> index attributes {relax.symbols = {m = #relax.range<1, 8>}} {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.if %c : i1 -> index {
    // CHECK: relax.sym m + 1
    %2 = relax.sym m + 1 : index
    relax.yield %2 : index
  } else {
    // Both branches may define the same name.
    %2 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
    // CHECK: relax.sym k
    %3 = relax.sym k : index
    relax.yield %3 : index
  }
  // The code after the branches may define it, too.
  %4 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
  // CHECK: relax.sym k + m
  %5 = relax.sym k + m : index
  relax.return %5 : index
}

// Symbols of function types are bound there.
// CHECK-LABEL: relax.func private @callable((tensor<?xf32, #relax.shape<[free]>>) -> tensor<?xf32, #relax.shape<[free]>>)
relax.func private @callable((tensor<?xf32, #relax.shape<[free]>>) -> tensor<?xf32, #relax.shape<[free]>>)

// Parameters may use symbols that later ones define.
// CHECK-LABEL: relax.func private @later(
relax.func private @later(tensor<?xf32, #relax.shape<[n + m]>>, !relax.shape<[n]>, index {relax.symbol = "m"})

// Kernels have their own symbols.
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME:    relax.symbols = {n = #relax.range<1, 8>}
func.func private @kernel(tensor<?xf32> {relax.shape = #relax.shape<[n]>}, tensor<?xf32> {relax.shape = #relax.shape<[2*n]>}) attributes {relax.symbols = {n = #relax.range<1, 8>}}
