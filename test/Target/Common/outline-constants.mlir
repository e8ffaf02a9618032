// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-outline-constants | FileCheck %s

// Equal constants share a global; splats and scalars stay.
// CHECK-DAG:   memref.global "private" constant @[[NUMBERS:.*]] : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 64 : i64}
// CHECK-NOT:   memref.global {{.*}} dense<[1.000000e+00, 2.000000e+00]>
// CHECK-LABEL: func.func private @first
// CHECK:         %[[GLOBAL:.*]] = memref.get_global @[[NUMBERS]] : memref<2xf32>
// CHECK:         bufferization.to_tensor %[[GLOBAL]] restrict : memref<2xf32> to tensor<2xf32>
func.func private @first(%out: memref<2xf32>) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @second
// CHECK:         memref.get_global @[[NUMBERS]]
func.func private @second(%out: memref<2xf32>) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @scalar
// CHECK:         arith.constant 1.000000e+00 : f32
// CHECK-NOT:     memref.get_global
func.func private @scalar() -> f32 {
  %0 = arith.constant 1.0 : f32
  return %0 : f32
}
