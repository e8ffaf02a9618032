// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-bufferize="schedule=0" | FileCheck %s
// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-bufferize="schedule=0" -relax-cpu-to-llvm | FileCheck %s --check-prefix=LLVM

// Kernels without a schedule become plain loops.

// Constants become globals; equal constants share one.
// CHECK:       memref.global "private" constant @[[CONSTANT:.*]] : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 64 : i64}
// CHECK-NOT:   memref.global
// CHECK-LABEL: func.func private @constant(
// CHECK:         memref.get_global @[[CONSTANT]]
// CHECK:         scf.for
func.func private @constant(%x: tensor<2xf32>, %out: tensor<2xf32>) -> tensor<2xf32> {
  %k = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %l = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.add ins(%x, %k : tensor<2xf32>, tensor<2xf32>) outs(%out : tensor<2xf32>) -> tensor<2xf32>
  %1 = linalg.add ins(%0, %l : tensor<2xf32>, tensor<2xf32>) outs(%0 : tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// The result is written to its destination without a copy.
// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>)
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[OUT]]
// CHECK:         return
func.func private @in_place(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Each part of a concatenation goes to its slice of the destination.
// CHECK-LABEL: func.func private @concat(
// CHECK-NOT:     memref.alloc
// CHECK:         memref.subview %[[OUT:.*]][0]
// CHECK:         memref.subview %[[OUT]][%
// CHECK:         return
func.func private @concat(%x: tensor<?xf32>, %y: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A temporary of static size is on the stack, one of dynamic size is freed; both are allocated outside the loop.
// CHECK-LABEL: func.func private @temporaries(
// CHECK:         memref.alloca() {{.*}} : memref<8xf32>
// CHECK:         memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK:         scf.for
// CHECK-NOT:     memref.alloc
// CHECK:         memref.dealloc
// CHECK-NEXT:    return
// LLVM-LABEL:  llvm.func @temporaries(
// LLVM:          llvm.call @_mlir_memref_to_llvm_alloc
// LLVM:          llvm.call @_mlir_memref_to_llvm_free
func.func private @temporaries(%x: tensor<8x?xf32>, %n: index, %out: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<8x?xf32>
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %out) -> tensor<8x?xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.reduce ins(%x : tensor<8x?xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
      (%p: f32, %q: f32) { %t = arith.addf %p, %q : f32 linalg.yield %t : f32 }
    %g = tensor.empty(%d) : tensor<?xf32>
    %h = linalg.fill ins(%z : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
    %u = linalg.reduce ins(%x : tensor<8x?xf32>) outs(%h : tensor<?xf32>) dimensions = [0]
      (%p: f32, %q: f32) { %t = arith.addf %p, %q : f32 linalg.yield %t : f32 }
    %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%s, %u : tensor<8xf32>, tensor<?xf32>) outs(%a : tensor<8x?xf32>) {
    ^bb0(%p: f32, %q: f32, %v: f32):
      %t = arith.mulf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<8x?xf32>
    scf.yield %o : tensor<8x?xf32>
  }
  return %r : tensor<8x?xf32>
}
