// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-lower-prefetches | FileCheck %s

// CHECK-LABEL: llvm.func @prefetch
// CHECK-NOT:     llvm.intr.prefetch
// CHECK:         nvvm.prefetch level = L2, %arg0 : !llvm.ptr
llvm.func @prefetch(%p: !llvm.ptr) {
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  llvm.return
}
