// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-overlap-launches | FileCheck %s
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_90 | FileCheck %s --check-prefix=PTX
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=OLD

// A kernel lets the next one begin at once, and waits before it reads.
// CHECK-LABEL: gpu.func @reads
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK: gpu.block_id
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.load

// Of two branches each waits for itself, one that does nothing as well.
// CHECK-LABEL: gpu.func @parts
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: scf.if
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.for
// CHECK: } else {
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: }

// PTX: .entry reads(
// PTX-SAME: griddepcontrol.launch_dependents
// PTX-SAME: griddepcontrol.wait

// The runtime is told.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@reads {{.*}} {overlaps}

// Before sm_90 kernels do not wait for others.
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
  }
  func.func @host(%x: memref<?x64xf32>, %y: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : memref<?x64xf32>, %y : memref<?xf32>)
    return
  }
}
