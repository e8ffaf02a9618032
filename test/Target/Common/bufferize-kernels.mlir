// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -pass-pipeline='builtin.module(func.func(relax-bufferize-kernels))' | FileCheck %s
// RUN: relax-opt %s -pass-pipeline='builtin.module(func.func(relax-bufferize-kernels{parallel-loops}))' | FileCheck %s --check-prefix=PARALLEL

// A kernel on tensors becomes loops over its parameters, without a temporary.
// CHECK-LABEL: func.func @exp
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = memref.load %arg0
// CHECK:           %[[Y:.*]] = math.exp %[[X]]
// CHECK:           memref.store %[[Y]], %arg1
// PARALLEL-LABEL: func.func @exp
// PARALLEL:         scf.parallel
func.func @exp(%x: memref<?xf32>, %out: memref<?xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %1 = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
  %2 = linalg.exp ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// A temporary of dynamic size is allocated, and freed at the end of its block.
// CHECK-LABEL: func.func @temporary
// CHECK:         %[[TEMPORARY:.*]] = memref.alloc(
// CHECK:         memref.dealloc %[[TEMPORARY]]
func.func @temporary(%x: memref<?xf32>, %out: memref<f32>) {
  %c0 = arith.constant 0 : index
  %0 = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %n = tensor.dim %0, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.exp ins(%0 : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %2 = tensor.extract %1[%c0] : tensor<?xf32>
  memref.store %2, %out[] : memref<f32>
  return
}

// A kernel on buffers does not change.
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT:    %[[X:.*]] = memref.load
// CHECK-NEXT:    memref.store %[[X]]
// CHECK-NEXT:    return
func.func @buffers(%x: memref<f32>, %out: memref<f32>) {
  %0 = memref.load %x[] : memref<f32>
  memref.store %0, %out[] : memref<f32>
  return
}

// A view that drops one of several unit dimensions says which: MLIR's own
// choice does not fit the sizes of the result where strides are dynamic.
// CHECK-LABEL: func.func @unit_dims
// CHECK:         %[[FULL:.*]] = memref.subview %arg1[0, 0, 1, 0, 0] [1, %{{.*}}, 1, 1, %{{.*}}] [1, 1, 1, 1, 1] : memref<1x?x3x1x?xf32> to memref<1x?x1x1x?xf32
// CHECK:         %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:5, %[[STRIDES:.*]]:5 = memref.extract_strided_metadata %[[FULL]]
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [1, %{{.*}}, 1, %{{.*}}], strides: [%[[STRIDES]]#0, %[[STRIDES]]#1, %[[STRIDES]]#2, 1]
func.func @unit_dims(%x: memref<1x?x1x?xf32>, %out: memref<1x?x3x1x?xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = bufferization.to_tensor %x restrict : memref<1x?x1x?xf32> to tensor<1x?x1x?xf32>
  %1 = bufferization.to_tensor %out restrict writable : memref<1x?x3x1x?xf32> to tensor<1x?x3x1x?xf32>
  %n = tensor.dim %1, %c1 : tensor<1x?x3x1x?xf32>
  %m = tensor.dim %1, %c4 : tensor<1x?x3x1x?xf32>
  %2 = tensor.insert_slice %0 into %1[0, 0, 1, 0, 0] [1, %n, 1, 1, %m] [1, 1, 1, 1, 1] : tensor<1x?x1x?xf32> into tensor<1x?x3x1x?xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<1x?x3x1x?xf32>, memref<1x?x3x1x?xf32>) -> ()
  return
}
