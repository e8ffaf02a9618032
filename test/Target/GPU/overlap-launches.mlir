// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-overlap-launches | FileCheck %s
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_90 | FileCheck %s --check-prefix=PTX
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=OLD

// A kernel lets the next one begin at once, and waits before it reads; what it reads first is asked for.
// CHECK-LABEL: gpu.func @reads
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: %[[I:.*]] = gpu.block_id
// CHECK-NEXT: %[[SAME:.*]] = gpu.block_id
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[SAME]]]
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.load %{{.*}}[%[[I]]]

// What a branch without another reads is not asked for: there may be no such place.
// CHECK-LABEL: gpu.func @branches
// CHECK-NOT: memref.prefetch
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.if

// Of two branches each waits for itself; of a loop the first step is asked for.
// CHECK-LABEL: gpu.func @parts
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: scf.if
// CHECK: memref.prefetch %{{.*}}[%{{.*}}], read
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.for
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.store

// PTX: .entry reads(
// PTX-SAME: griddepcontrol.launch_dependents
// PTX-SAME: prefetch.L2
// PTX-SAME: griddepcontrol.wait

// The runtime is told.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@reads {{.*}} {overlaps}

// Before sm_90 kernels do not wait for others.
// OLD-NOT: griddepcontrol
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reads(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
      %i = gpu.block_id x
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
        memref.store %zero, %y[%i] : memref<?xf32>
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
