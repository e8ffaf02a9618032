// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-to-spirv | FileCheck %s
// RUN: relax-opt %s -relax-gpu-to-spirv | FileCheck %s --check-prefix=NONE

// Divisions that drivers get wrong are not left to them.
// NONE-NOT: spirv.UDiv {{.+}} : i64
// NONE-NOT: spirv.SDiv {{.+}} : i64
// NONE-NOT: spirv.UMod
// NONE-NOT: spirv.SRem

// 64-bit numbers that fit in a word are divided as words, others digit by digit. Quotient and remainder share one
// division.
// CHECK-LABEL: spirv.module @spirv.long
// CHECK: spirv.BitwiseOr
// CHECK: spirv.mlir.selection
// CHECK: spirv.mlir.loop control(DontUnroll)
// CHECK: spirv.UDiv %{{.+}}, %{{.+}} : i32
// CHECK-NOT: spirv.mlir.loop
// CHECK: spirv.Return

// Block indices are words: a longer divisor is replaced by one, since there is nothing to divide.
// CHECK-LABEL: spirv.module @spirv.blocks
// CHECK-NOT: spirv.mlir.loop
// CHECK: spirv.Select
// CHECK: spirv.UDiv %{{.+}}, %{{.+}} : i32
// CHECK-NOT: spirv.mlir.loop
// CHECK: spirv.Return

// CHECK-LABEL: spirv.module @spirv.powers
// CHECK-NOT: Div
// CHECK-DAG: spirv.ShiftRightLogical
// CHECK-DAG: spirv.BitwiseAnd
// CHECK-NOT: Div
// CHECK: spirv.Return

// CHECK-LABEL: spirv.module @spirv.negative
// CHECK: %[[QUOTIENT:.+]] = spirv.SDiv %[[X:.+]], %[[Y:.+]] : i32
// CHECK: %[[PRODUCT:.+]] = spirv.IMul %[[QUOTIENT]], %[[Y]] : i32
// CHECK: spirv.ISub %[[X]], %[[PRODUCT]] : i32

// Constant divisors that are not large are used unchanged.
// CHECK-LABEL: spirv.module @spirv.reals
// CHECK: %[[SCALE:.+]] = spirv.Select
// CHECK: %[[FROM:.+]] = spirv.FMul %{{.+}}, %[[SCALE]] {no_contraction} : f32
// CHECK: %[[BY:.+]] = spirv.FMul %{{.+}}, %[[SCALE]] {no_contraction} : f32
// CHECK: spirv.FDiv %[[FROM]], %[[BY]] {{.*}}: f32
// CHECK-NOT: spirv.FMul
// CHECK: spirv.FDiv {{.*}}: f32
module attributes {gpu.container_module} {
  gpu.module @relax_kernels {
    gpu.func @long(%x: memref<64xi64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%i] : memref<64xi64>
      %1 = memref.load %x[%c0] : memref<64xi64>
      %2 = arith.divui %0, %1 : i64
      %3 = arith.remui %0, %1 : i64
      %4 = arith.addi %2, %3 : i64
      memref.store %4, %x[%i] : memref<64xi64>
      gpu.return
    }
    gpu.func @blocks(%x: memref<64xindex>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %block = gpu.block_id x
      %0 = arith.divui %block, %n : index
      %1 = arith.remui %block, %n : index
      memref.store %0, %x[%1] : memref<64xindex>
      gpu.return
    }
    gpu.func @powers(%x: memref<64xi64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %c8 = arith.constant 8 : i64
      %0 = memref.load %x[%i] : memref<64xi64>
      %1 = arith.divui %0, %c8 : i64
      %2 = arith.remui %0, %c8 : i64
      %3 = arith.addi %1, %2 : i64
      memref.store %3, %x[%i] : memref<64xi64>
      gpu.return
    }
    gpu.func @negative(%x: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%i] : memref<64xi32>
      %1 = memref.load %x[%c0] : memref<64xi32>
      %2 = arith.remsi %0, %1 : i32
      memref.store %2, %x[%i] : memref<64xi32>
      gpu.return
    }
    gpu.func @reals(%x: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %three = arith.constant 3.0 : f32
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = memref.load %x[%c0] : memref<64xf32>
      %2 = arith.divf %0, %1 : f32
      %3 = arith.divf %2, %three : f32
      memref.store %3, %x[%i] : memref<64xf32>
      gpu.return
    }
  }
}
