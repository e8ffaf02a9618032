// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-grid-stride | FileCheck %s
// RUN: relax-opt %s -relax-gpu-to-spirv=overlap=true | FileCheck %s --check-prefix=SPIRV
// RUN: not relax-opt %s -relax-gpu-to-spirv 2>&1 | FileCheck %s --check-prefix=PLAIN

// Both kernels get the number of blocks of the launch.
// CHECK-LABEL: gpu.func @many(
// CHECK-SAME: %[[END:[a-z0-9]+]]: index) workgroup
// CHECK-SAME: grid_stride = @many_grid_stride
// CHECK-NOT: many_blocks
// CHECK-NOT: scf.while
// CHECK: %[[BLOCK:.+]] = gpu.block_id x
// CHECK: memref.load %{{.+}}[%[[BLOCK]]]
// CHECK: arith.addi %{{.+}}, %[[END]]

// A block starts at its own index and advances by the number of actual blocks, up to the number of blocks of the
// launch. It waits once, and its threads synchronize after each iteration, since they share memory.
// CHECK-LABEL: gpu.func @many_grid_stride(
// CHECK-SAME: %[[END:[a-z0-9]+]]: index) workgroup
// CHECK-NOT: many_blocks
// CHECK: %[[LAST:.+]] = arith.index_castui %[[END]] : index to i32
// CHECK: %[[ID:.+]] = gpu.block_id x
// CHECK: %[[FIRST:.+]] = arith.index_castui %[[ID]] : index to i32
// CHECK: %[[COUNT:.+]] = gpu.grid_dim x
// CHECK: %[[STRIDE:.+]] = arith.index_castui %[[COUNT]] : index to i32
// CHECK: scf.while (%[[NUMBER:.+]] = %[[FIRST]])
// CHECK: %[[BLOCK:.+]] = arith.index_castui %[[NUMBER]] : i32 to index
// CHECK: %[[IS_FIRST:.+]] = arith.cmpi eq, %[[NUMBER]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: }
// CHECK: memref.load %{{.+}}[%[[BLOCK]]]
// CHECK: arith.addi %{{.+}}, %[[END]]
// CHECK: gpu.barrier
// CHECK: memref.store
// CHECK-NEXT: %[[NEXT:.+]] = arith.addi %[[NUMBER]], %[[STRIDE]]
// CHECK-NEXT: %[[GOES_ON:.+]] = arith.cmpi ult, %[[NEXT]], %[[LAST]]
// CHECK-NEXT: scf.condition(%[[GOES_ON]]) %[[NEXT]]
// CHECK: gpu.barrier
// CHECK-NEXT: scf.yield
// CHECK: gpu.return

// No memory is shared, so the threads need not synchronize.
// CHECK-LABEL: gpu.func @apart_grid_stride(
// CHECK: scf.while
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// Other kernels do not change, nor do kernels whose grids have more than one
// dimension.
// CHECK-LABEL: gpu.func @few(
// CHECK-NOT: grid_stride
// CHECK-LABEL: gpu.func @plane(
// CHECK-NOT: grid_stride

// All launches of a kernel pass their number of blocks.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@many blocks in (%[[COUNT:.+]], %{{.+}}, %{{.+}}) threads {{.*}} args({{.*}}, %[[COUNT]] : index)
// CHECK: gpu.launch_func @kernels::@apart blocks in (%[[COUNT]], {{.*}} args({{.*}}, %[[COUNT]] : index)
// CHECK: gpu.launch_func @kernels::@apart blocks in (%[[OTHER:.+]], %{{.+}}, %{{.+}}) threads {{.*}} args({{.*}}, %[[OTHER]] : index)

// The runtime is given the variant; its existence does not change the first
// kernel.
// SPIRV: spirv.module @spirv.many
// SPIRV-SAME: grid_stride = @spirv.many_grid_stride
// SPIRV-NOT: NumWorkgroups
// SPIRV: spirv.module @spirv.many_grid_stride
// SPIRV: NumWorkgroups

// Grids of other kernels may be launched in parts, and so have no single size.
// PLAIN: error: 'gpu.grid_dim' op cannot be lowered to SPIR-V
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @many(%x: memref<?xindex>) workgroup(%shared: memref<64xindex, #gpu.address_space<workgroup>>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, many_blocks} {
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %count = gpu.grid_dim x
      nvvm.griddepcontrol wait
      %0 = memref.load %x[%block] : memref<?xindex>
      %1 = arith.addi %0, %count : index
      memref.store %1, %shared[%thread] : memref<64xindex, #gpu.address_space<workgroup>>
      gpu.barrier
      %2 = memref.load %shared[%thread] : memref<64xindex, #gpu.address_space<workgroup>>
      memref.store %2, %x[%block] : memref<?xindex>
      gpu.return
    }
    gpu.func @apart(%x: memref<?xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, many_blocks} {
      %block = gpu.block_id x
      %0 = memref.load %x[%block] : memref<?xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%block] : memref<?xf32>
      gpu.return
    }
    gpu.func @few(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %block = gpu.block_id x
      %0 = memref.load %x[%block] : memref<?xf32>
      memref.store %0, %x[%block] : memref<?xf32>
      gpu.return
    }
    gpu.func @plane(%x: memref<?x?xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, many_blocks} {
      %block = gpu.block_id x
      %row = gpu.block_id y
      %0 = memref.load %x[%row, %block] : memref<?x?xf32>
      memref.store %0, %x[%row, %block] : memref<?x?xf32>
      gpu.return
    }
  }
  func.func @host(%x: memref<?xindex>, %y: memref<?xf32>, %z: memref<?x?xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@many blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<?xindex>)
    gpu.launch_func @kernels::@apart blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<?xf32>)
    gpu.launch_func @kernels::@apart blocks in (%c64, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<?xf32>)
    gpu.launch_func @kernels::@few blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<?xf32>)
    gpu.launch_func @kernels::@plane blocks in (%n, %n, %c1) threads in (%c64, %c1, %c1) args(%z : memref<?x?xf32>)
    return
  }
}
