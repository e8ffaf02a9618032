// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-overlap-launches | FileCheck %s
// RUN: relax-opt %s -relax-gpu-overlap-launches=together=true | FileCheck %s --check-prefix=TOGETHER
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_90 | FileCheck %s --check-prefix=PTX
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=OLD

// A kernel lets the next one begin immediately, and waits before it reads.
// CHECK-LABEL: gpu.func @reads
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK: gpu.block_id
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.load

// Both branches wait, including one that does nothing.
// CHECK-LABEL: gpu.func @parts
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: scf.if
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.for
// CHECK: } else {
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: }

// Memory that nothing writes is read before the wait, wherever the read is in the block; reads that depend on other
// memory are not. The same goes for copies to shared memory, up to the first barrier. Tiled kernels let the next kernel
// begin after their products.
// CHECK-LABEL: gpu.func @weights(%arg0: memref<64xf32>, %arg1: memref<64xf32>, %arg2: memref<64xindex>)
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: memref.load %arg0
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK: memref.load %arg1
// CHECK: memref.load %arg2
// CHECK: memref.load %arg0
// CHECK-LABEL: gpu.func @tiles
// CHECK-NOT: launch_dependents
// CHECK: nvgpu.device_async_copy %arg0
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvgpu.device_async_copy %arg1
// CHECK: scf.for
// CHECK: nvgpu.device_async_copy %arg0
// CHECK: }
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents

// PTX: .entry reads(
// PTX-SAME: griddepcontrol.launch_dependents
// PTX-SAME: griddepcontrol.wait

// Launches are marked for the runtime.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@reads {{.*}} {overlaps}

// A block waits as a whole: not in a divergent branch.
// TOGETHER-LABEL: gpu.func @parts
// TOGETHER: scf.if
// TOGETHER-NEXT: nvvm.griddepcontrol wait
// TOGETHER-LABEL: gpu.func @apart
// TOGETHER: nvvm.griddepcontrol wait
// TOGETHER: scf.if
// TOGETHER-NOT: griddepcontrol
// TOGETHER-LABEL: func.func @host

// Before sm_90, kernels do not wait for others.
// OLD-NOT: griddepcontrol
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reads(%x: memref<?x64xf32>, %y: memref<?xf32>) kernel {
      %i = gpu.block_id x
      %thread = gpu.thread_id x
      %0 = memref.load %x[%i, %thread] : memref<?x64xf32>
      memref.store %0, %y[%i] : memref<?xf32>
      gpu.return
    }
    gpu.func @parts(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %i = gpu.block_id x
      %first = arith.cmpi ult, %i, %n : index
      scf.if %first {
        %sum = scf.for %k = %i to %n step %c1 iter_args(%before = %zero) -> f32 {
          %0 = memref.load %x[%k] : memref<?xf32>
          %1 = arith.addf %before, %0 : f32
          scf.yield %1 : f32
        }
        memref.store %sum, %y[%i] : memref<?xf32>
      } else {
      }
      gpu.return
    }
    gpu.func @weights(%w: memref<64xf32> {relax.invariant}, %x: memref<64xf32>, %places: memref<64xindex>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = memref.load %w[%i] : memref<64xf32>
      %place = memref.load %places[%i] : memref<64xindex>
      %2 = memref.load %w[%place] : memref<64xf32>
      %3 = arith.mulf %0, %1 : f32
      %4 = arith.addf %2, %3 : f32
      memref.store %4, %x[%i] : memref<64xf32>
      gpu.return
    }
    gpu.func @tiles(%w: memref<1024xf32> {relax.invariant}, %x: memref<1024xf32>) workgroup(%s: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c128 = arith.constant 128 : index
      %i = gpu.thread_id x
      %j = arith.addi %i, %c128 : index
      %0 = nvgpu.device_async_copy %x[%i], %s[%i], 1 : memref<1024xf32> to memref<256xf32, #gpu.address_space<workgroup>>
      %1 = nvgpu.device_async_copy %w[%i], %s[%j], 1 : memref<1024xf32> to memref<256xf32, #gpu.address_space<workgroup>>
      scf.for %k = %c0 to %c8 step %c1 {
        gpu.barrier
        %at = arith.muli %k, %c128 : index
        %2 = nvgpu.device_async_copy %w[%at], %s[%j], 1 : memref<1024xf32> to memref<256xf32, #gpu.address_space<workgroup>>
      }
      gpu.return
    }
    gpu.func @apart(%x: memref<64xf32>) kernel {
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      %first = arith.cmpi ult, %i, %c32 : index
      scf.if %first {
        memref.store %zero, %x[%i] : memref<64xf32>
      } else {
      }
      gpu.return
    }
  }
  func.func @host(%x: memref<?x64xf32>, %y: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : memref<?x64xf32>, %y : memref<?xf32>)
    return
  }
}
