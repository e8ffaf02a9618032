// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -pass-pipeline='builtin.module(gpu.module(relax-gpu-keep-tensor-maps))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @with_map(
  // CHECK-SAME:    !llvm.ptr,
  // CHECK-SAME:    !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant}
  // CHECK-NOT:     tensor_maps
  llvm.func @with_map(%x: !llvm.ptr, %map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, tensor_maps = array<i64: 1>} {
    llvm.return
  }
  // CHECK-LABEL: llvm.func @without(
  // CHECK-SAME:    !llvm.ptr) attributes
  llvm.func @without(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
