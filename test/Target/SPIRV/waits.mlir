// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-to-spirv=overlap=true | FileCheck %s
// RUN: relax-opt %s -relax-gpu-to-spirv | FileCheck %s --check-prefix=PLAIN
// RUN: not relax-opt %s -relax-gpu-to-spirv="overlap=true bound=true" 2>&1 | FileCheck %s --check-prefix=BOUND

// Memory that nothing writes is read first. If there is something to wait for, the first thread of a block polls the
// counter of the previous launch, whose writes are then visible to all threads. At the end, a block increments its own
// launch's counter.
// CHECK-LABEL: spirv.module @spirv.waits PhysicalStorageBuffer64 Vulkan
// CHECK-SAME: VulkanMemoryModel, VulkanMemoryModelDeviceScope
// CHECK-SAME: pushed = array<i64: 4, 16>
// CHECK: spirv.GlobalVariable @parameters : !spirv.ptr<!spirv.struct<(i64 [0], i64 [8], i64 [16], i64 [24], i64 [32], i64 [40]), Block>, PushConstant>
// CHECK: spirv.func @main
// CHECK: spirv.Load "PhysicalStorageBuffer" %{{.+}} ["Aligned|NonPrivatePointer", 4] : f32
// CHECK: spirv.INotEqual
// CHECK: spirv.mlir.selection
// CHECK: spirv.mlir.selection
// CHECK: spirv.mlir.loop
// CHECK: spirv.AtomicOr <Device> <None>
// CHECK: spirv.MemoryBarrier <Device>, <Acquire|UniformMemory|MakeVisible>
// CHECK: spirv.ControlBarrier <Workgroup>
// CHECK: spirv.Load "PhysicalStorageBuffer" %{{.+}} ["Aligned|NonPrivatePointer", 4] : f32
// CHECK: spirv.FMul
// CHECK: spirv.Store "PhysicalStorageBuffer" %{{.+}} : f32
// CHECK: spirv.ControlBarrier <Workgroup>
// CHECK: spirv.MemoryBarrier <Device>, <Release|UniformMemory|MakeAvailable>
// CHECK: spirv.AtomicIAdd <Device> <None>
// CHECK: spirv.Return

// PLAIN: pushed = array<i64: 1, 16>
// PLAIN-NOT: spirv.ControlBarrier
// PLAIN-NOT: spirv.Atomic

// BOUND: error: 'nvvm.griddepcontrol' op waits for other launches by buffer addresses, which the device lacks
module attributes {gpu.container_module} {
  gpu.module @relax_kernels {
    gpu.func @waits(%w: memref<64xf32> {relax.invariant}, %x: memref<64xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = memref.load %w[%i] : memref<64xf32>
      %2 = arith.mulf %0, %1 : f32
      memref.store %2, %x[%i] : memref<64xf32>
      gpu.return
    }
  }
}
