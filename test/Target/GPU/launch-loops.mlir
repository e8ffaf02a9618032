// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-gpu-launch-loops | FileCheck %s

// A thread for each iteration of a parallel loop, one for what is in order; the host allocates, and frees last.
// CHECK-LABEL: func.func @two(
// CHECK: memref.alloc
// CHECK: gpu.launch
// CHECK: arith.cmpi ult
// CHECK: memref.store
// CHECK: gpu.launch
// CHECK: scf.for
// CHECK: gpu.terminator
// CHECK: memref.dealloc
// CHECK-NEXT: return
func.func @two(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %y[%i] : memref<?xf32>
    memref.store %0, %x[%i] : memref<?xf32>
  }
  memref.dealloc %y : memref<?xf32>
  return
}

// -----

// Host code hands on addresses; it is no kernel.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.launch
func.func @host(%context: !llvm.ptr, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %x[%c0] : memref<4xf32>
  return
}

// -----

// What the device computes is no size for the host.
func.func @depends(%x: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<4xindex>
  // expected-error@+1 {{depends on what the GPU computes, which the host does not know when it launches}}
  %y = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return
}
