// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-to-spirv | FileCheck %s

// For a buffer, only the address is pushed, and its size if it is used: words 1 and 3 of its five. A vector becomes a
// list of elements that are read 16 bytes at a time, and sums are not fused.
// CHECK-LABEL: spirv.module @spirv.elements PhysicalStorageBuffer64 GLSL450
// CHECK-SAME: #spirv.vce<v1.5, [Shader, Int64, SignedZeroInfNanPreserve, PhysicalStorageBufferAddresses], []>
// CHECK-SAME: block = array<i64: 0, 256, 0>
// CHECK-SAME: parameters = array<i64: 3, 1>
// CHECK: spirv.GlobalVariable @parameters : !spirv.ptr<!spirv.struct<(i64 [0], i64 [8], i64 [16]), Block>, PushConstant>
// CHECK: spirv.func @main() "None"
// CHECK: %[[AT:.+]] = spirv.ConvertUToPtr %{{.+}} : i64 to !spirv.ptr<vector<4xf32>, PhysicalStorageBuffer>
// CHECK: spirv.Load "PhysicalStorageBuffer" %[[AT]] ["Aligned", 16] : vector<4xf32>
// CHECK-COUNT-4: spirv.FAdd %{{.+}} {no_contraction} : f32
// CHECK: spirv.CompositeConstruct
// CHECK: spirv.Store "PhysicalStorageBuffer" %{{.+}} ["Aligned", 16] : vector<4xf32>
// CHECK: spirv.EntryPoint "GLCompute" @main
// CHECK: spirv.ExecutionMode @main "LocalSize", 256, 1, 1
// CHECK: spirv.ExecutionMode @main "SignedZeroInfNanPreserve", 32
func.func @elements(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %size = memref.dim %x, %c0 : memref<?xf32>
    %0 = arith.muli %bx, %c256 : index
    %1 = arith.addi %0, %tx : index
    %i = arith.muli %1, %c4 : index
    %inside = arith.cmpi ult, %i, %size : index
    scf.if %inside {
      %2 = vector.load %x[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
      %3 = arith.addf %2, %2 : vector<4xf32>
      vector.store %3, %x[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
    }
    gpu.terminator
  }
  return
}

// -----

// A loop carries its values in variables, which keep their initial values if it does not run at all. Threads use
// shuffles and shared memory; writes to memory are visible after a barrier as well.
// CHECK-LABEL: spirv.module @spirv.sum
// CHECK-SAME: GroupNonUniform, GroupNonUniformShuffle
// CHECK-SAME: block = array<i64: 32, 64, 8>
// CHECK: spirv.GlobalVariable @[[SHARED:.+]] : !spirv.ptr<!spirv.array<8 x f32>, Workgroup>
// CHECK: %[[SUM:.+]] = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK: spirv.Store "Function" %[[SUM]], %{{.+}} : f32
// CHECK: spirv.mlir.loop
// CHECK: spirv.SLessThan
// CHECK: spirv.Store "Function" %[[SUM]], %{{.+}} : f32
// CHECK: spirv.Load "Function" %[[SUM]] : f32
// CHECK: spirv.GroupNonUniformShuffleXor <Subgroup>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
func.func @sum(%x: memref<?xf32>, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %i4 = arith.constant 4 : i32
  %i8 = arith.constant 8 : i32
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%shared : memref<8xf32, #gpu.address_space<workgroup>>) {
    %size = memref.dim %x, %c0 : memref<?xf32>
    %sum = scf.for %i = %tx to %size step %c64 iter_args(%before = %zero) -> f32 {
      %0 = memref.load %x[%i] : memref<?xf32>
      %1 = arith.addf %before, %0 : f32
      scf.yield %1 : f32
    }
    %other, %valid = gpu.shuffle xor %sum, %i4, %i8 : f32
    memref.store %other, %shared[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %all = memref.load %shared[%c1] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %all, %y[] : memref<f32>
    gpu.terminator
  }
  return
}

// -----

// bf16 and booleans are integers in memory.
// CHECK-LABEL: spirv.module @spirv.narrow
// CHECK-SAME: Int16, Int8, StorageBuffer16BitAccess, StorageBuffer8BitAccess
// CHECK: spirv.Load "PhysicalStorageBuffer" %{{.+}} ["Aligned", 2] : i16
// CHECK: spirv.FAdd
// CHECK: spirv.Store "PhysicalStorageBuffer" %{{.+}} ["Aligned", 1] : i8
func.func @narrow(%x: memref<?xbf16>, %y: memref<?xi1>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %0 = memref.load %x[%tx] : memref<?xbf16>
    %1 = arith.addf %0, %0 : bf16
    %2 = arith.cmpf olt, %1, %zero : bf16
    memref.store %2, %y[%tx] : memref<?xi1>
    gpu.terminator
  }
  return
}

// -----

// A product of twice the width is a struct of two halves.
// CHECK-LABEL: spirv.module @spirv.products
// CHECK: %[[BOTH:.+]] = spirv.UMulExtended %{{.+}}, %{{.+}} : !spirv.struct<(i32, i32)>
// CHECK: %[[LOW:.+]] = spirv.CompositeExtract %[[BOTH]][0 : i32]
// CHECK: %[[HIGH:.+]] = spirv.CompositeExtract %[[BOTH]][1 : i32]
// CHECK: spirv.ISub %[[HIGH]], %[[LOW]] : i32
func.func @products(%x: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %0 = memref.load %x[%tx] : memref<?xi32>
    %low, %high = arith.mului_extended %0, %0 : i32
    %1 = arith.subi %high, %low : i32
    memref.store %1, %x[%tx] : memref<?xi32>
    gpu.terminator
  }
  return
}
