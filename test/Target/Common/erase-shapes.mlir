// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -pass-pipeline="builtin.module(func.func(relax-erase-shapes))" | FileCheck %s

// Parameter attributes of other dialects are kept.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %{{.*}}: memref<?x4xf32>, %{{.*}}: memref<8xf32> {bufferization.writable = true}, %{{.*}}: index) {
func.func private @k(%x: memref<?x4xf32> {relax.shape = #relax.shape<[n, 4]>},
                     %y: memref<8xf32> {bufferization.writable = true},
                     %m: index {relax.symbol = "m"}) attributes {relax.symbols = {n = #relax.range<1, 8>}} {
  return
}
