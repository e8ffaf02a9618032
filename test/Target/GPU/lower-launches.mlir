// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-outline-launches | FileCheck %s --check-prefix=OUTLINE
// RUN: relax-opt %s -relax-cuda-to-llvm=chip=sm_90 | FileCheck %s --check-prefix=PTX
// RUN: relax-opt %s -relax-gpu-outline-launches -relax-gpu-emulate-launches -relax-gpu-lower-launches | FileCheck %s --check-prefix=EMULATE

// All kernels are in one module, with names that are valid in assembly; sizes are computed where they are used.
// OUTLINE: gpu.module @relax_kernels
// OUTLINE: gpu.func @relax_kernel_f(%{{.*}}: memref<?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// OUTLINE: memref.dim
// OUTLINE: func.func @relax.kernel.f
// OUTLINE: gpu.launch_func @relax_kernels::@relax_kernel_f

// PTX: llvm.mlir.global internal constant @relax.gpu_image
// PTX-SAME: .target sm_90
// PTX-SAME: .visible .entry relax_kernel_f
// PTX-SAME: griddepcontrol.launch_dependents
// PTX-SAME: griddepcontrol.wait
// PTX-SAME: ex2.approx
// PTX: llvm.func @relax.kernel.f
// PTX: llvm.call @relax_rt_device_launch
// PTX-NOT: gpu.

// EMULATE: func.func private @relax.emulated.relax_kernel_f(
// EMULATE: llvm.call @relax_emulator_id
// EMULATE-NOT: gpu.
func.func @relax.kernel.f(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %size = memref.dim %x, %c0 : memref<?xf32>
    %inside = arith.cmpi ult, %tx, %size : index
    scf.if %inside {
      %0 = memref.load %x[%tx] : memref<?xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %x[%tx] : memref<?xf32>
    }
    gpu.terminator
  }
  return
}

// Scratch memory of a size that the callers do not know is allocated on the device while it is used.
// PTX-LABEL: llvm.func @relax.kernel.scratch
// PTX: %[[STORAGE:.*]] = llvm.call @relax_rt_device_scratch(%{{.*}}, %{{.*}}) : (i64, !llvm.ptr) -> !llvm.ptr
// PTX: llvm.call @relax_rt_device_launch
// PTX: llvm.call @relax_rt_release(%{{.*}}) : (!llvm.ptr) -> ()
// PTX-NOT: malloc
func.func @relax.kernel.scratch(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %scratch = memref.alloc(%n) : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %0 = memref.load %x[%bx] : memref<?xf32>
    memref.store %0, %scratch[%bx] : memref<?xf32>
    gpu.terminator
  }
  memref.dealloc %scratch : memref<?xf32>
  return
}
