// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-overlap-launches | FileCheck %s
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=OLD

// A kernel lets the next one begin at once, and waits before it reads; where it is comes before that.
// CHECK-LABEL: gpu.func @reads
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: %[[I:.*]] = gpu.block_id
// CHECK-NEXT: memref.prefetch
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.load %{{.*}}[%[[I]]]

// Memory that a branch reads is read in all of it.
// CHECK-LABEL: gpu.func @branches
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.if

// The runtime is told.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@reads {{.*}} {relax.overlaps}

// Before sm_90 kernels do not wait for others.
// OLD-NOT: griddepcontrol
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reads(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
      %i = gpu.block_id x
      memref.prefetch %x[%i], read, locality<3>, data : memref<?xf32>
      %0 = memref.load %x[%i] : memref<?xf32>
      memref.store %0, %y[%i] : memref<?xf32>
      gpu.return
    }
    gpu.func @branches(%x: memref<?xf32>, %inside: i1) kernel {
      %i = gpu.block_id x
      scf.if %inside {
        %0 = memref.load %x[%i] : memref<?xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %x[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func @host(%x: memref<?xf32>, %y: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : memref<?xf32>, %y : memref<?xf32>)
    return
  }
}
