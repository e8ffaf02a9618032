// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not relax-opt %s -relax-gpu-to-spirv 2>&1 | FileCheck %s
// RUN: not relax-opt %s -relax-gpu-to-spirv=pushed=4 2>&1 | FileCheck %s --check-prefix=PUSHED
// RUN: not relax-opt %s -relax-gpu-to-spirv=pushed=99999999999 2>&1 | FileCheck %s --check-prefix=PUSHED

// CHECK: errors.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'gpu.func' op has a parameter of type 'memref<*xf32>', which cannot be lowered to SPIR-V
// PUSHED: error: expected from 5 to 32 words that are pushed, got {{4|99999999999}}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @unranked(%x: memref<?xf32>, %y: memref<*xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<?xf32>
      %rank = memref.rank %y : memref<*xf32>
      memref.store %0, %x[%rank] : memref<?xf32>
      gpu.return
    }
  }
}
