// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -pass-pipeline='builtin.module(gpu.module(relax-spirv-expand-math))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @rsqrt
  // CHECK:         %[[ROOT:.*]] = math.sqrt %{{.*}} : f32
  // CHECK:         arith.divf %{{.*}}, %[[ROOT]] : f32
  gpu.func @rsqrt(%x: f32) -> f32 {
    %0 = math.rsqrt %x : f32
    gpu.return %0 : f32
  }
  // CHECK-LABEL: gpu.func @exp
  // CHECK-NOT:     math.exp
  // CHECK:         arith.mulf
  gpu.func @exp(%x: f32) -> f32 {
    %0 = math.exp %x : f32
    gpu.return %0 : f32
  }
}
