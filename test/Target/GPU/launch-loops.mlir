// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-gpu-launch-loops | FileCheck %s
// Existing launches do not change.
// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-gpu-launch-loops -relax-gpu-launch-loops | FileCheck %s

// A thread for each iteration of a parallel loop, one thread for sequential code; the host allocates first and frees
// last.
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

// The host loops over passes, each of which is parallel; sequential code between them is launched as well.
// CHECK-LABEL: func.func @passes(
// CHECK-NOT: gpu.launch
// CHECK: scf.for
// CHECK: arith.shli
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256
// CHECK-NOT: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK: gpu.terminator
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c1
// CHECK: memref.store %{{.*}}, %{{.*}}[%c0
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @passes(%x: memref<?x8xindex>, %passes: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x8xindex>
  scf.for %pass = %c0 to %passes step %c1 {
    %width = arith.shli %c1, %pass : index
    scf.forall (%i, %j) in (%n, 8) {
      memref.store %width, %x[%i, %j] : memref<?x8xindex>
    }
    memref.store %width, %x[%c0, %c0] : memref<?x8xindex>
  }
  return
}

// -----

// Host code passes addresses, so it is not a kernel.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.launch
func.func @host(%context: !llvm.ptr, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %x[%c0] : memref<4xf32>
  return
}

// -----

// A value that the device computes cannot be a size on the host.
func.func @depends(%x: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<4xindex>
  // expected-error@+1 {{depends on what the GPU computes, which the host does not know when it launches}}
  %y = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return
}

// -----

// Each thread of a parallel loop reads the scalars that the loop needs from
// memory.
// CHECK-LABEL: func.func @position(
// CHECK-NOT: memref.load
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256
// CHECK: memref.load %{{.*}}[%c0] : memref<1xi64>
// CHECK: arith.index_cast
// CHECK: memref.store
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @position(%x: memref<?xf32>, %p: memref<1xi64>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %out, %c0 : memref<?xf32>
  %0 = memref.load %p[%c0] : memref<1xi64>
  %begin = arith.index_cast %0 : i64 to index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.addi %i, %begin : index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %out[%i] : memref<?xf32>
  }
  return
}

// -----

// If the scalars are overwritten in between, a single thread runs everything in
// order.
// CHECK-LABEL: func.func @written(
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c1
// CHECK: memref.load
// CHECK: memref.store
// CHECK: scf.parallel
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @written(%p: memref<1xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %out, %c0 : memref<?xf32>
  %0 = memref.load %p[%c0] : memref<1xf32>
  memref.store %zero, %p[%c0] : memref<1xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %0, %out[%i] : memref<?xf32>
  }
  return
}
