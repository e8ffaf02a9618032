// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @kernels(
relax.func @kernels(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // Symbols of the kernel are solved for from inputs and results.
  // CHECK: relax.call_tir @flatten(%{{.*}}) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  %0 = relax.call_tir @flatten(%x) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  // Symbols that no tensor determines are passed.
  // CHECK: relax.call_tir @arange() sym [2*n] : () -> tensor<?xf32, #relax.shape<[2*n]>>
  %1 = relax.call_tir @arange() sym [2*n] : () -> tensor<?xf32, #relax.shape<[2*n]>>
  // CHECK: relax.call_tir @two(%{{.*}}) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>)
  %2:2 = relax.call_tir @two(%x) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>)
  relax.return
}
func.func private @flatten(tensor<?x?xf32> {relax.shape = #relax.shape<[a, b]>}, tensor<?xf32> {relax.shape = #relax.shape<[a*b]>}) -> tensor<?xf32>
func.func private @arange(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, index {relax.symbol = "m"}) -> tensor<?xf32>
func.func private @two(tensor<?x4xf32> {relax.shape = #relax.shape<[k, 4]>}, tensor<4xf32>, tensor<?xf32> {relax.shape = #relax.shape<[k]>}) -> (tensor<4xf32>, tensor<?xf32>)

// An operand of unknown rank is checked at run time.
// CHECK-LABEL: relax.func @coarse(
relax.func @coarse(%x: tensor<*xf32>) {
  // CHECK: relax.call_tir @id(%{{.*}}) : (tensor<*xf32>) -> tensor<7xf32>
  %0 = relax.call_tir @id(%x) : (tensor<*xf32>) -> tensor<7xf32>
  relax.return
}
func.func private @id(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>

// CHECK-LABEL: relax.func @inplace(
relax.func @inplace(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<4xf32>) {
  // CHECK: relax.call_tir_inplace @both(%{{.*}}, %{{.*}}) inplace [1, -1] sym [n + 1]
  %0:2 = relax.call_tir_inplace @both(%y, %x) inplace [1, -1] sym [n + 1] : (tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n + 1]>>)
  relax.return
}
func.func private @both(tensor<4xf32>, tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[b]>}, index {relax.symbol = "b"}) -> (tensor<?xf32>, tensor<?xf32>)

// CHECK-LABEL: relax.func @library(
relax.func @library(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<4x8xf32>) {
  // CHECK: relax.call_library "blas.sgemm"(%{{.*}}, %{{.*}}) sym [n, 8, 4] {alpha = 1.0{{.*}}} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %0 = relax.call_library "blas.sgemm"(%x, %w) sym [n, 8, 4] {alpha = 1.0 : f32} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  // CHECK: relax.call_library_inplace "ml.scale"(%{{.*}}, %{{.*}}) inplace [1] sym [n] {{.*}} : (tensor<4x8xf32>, tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.call_library_inplace "ml.scale"(%w, %x) inplace [1] sym [n] {alpha = 1.0 : f32} : (tensor<4x8xf32>, tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.call_library "library.version"() : () -> ()
  relax.call_library "library.version"() : () -> ()
  relax.return
}

// A kernel in buffer form is called like a kernel on tensors; its results are the destinations that it writes. Scratch
// memory, which has no meaning for the caller, is also a destination.
// CHECK-LABEL: relax.func @buffers(
relax.func @buffers(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %out: tensor<?xi1, #relax.shape<[4*n]>>, %scratch: tensor<64xi8>) {
  // CHECK: relax.call_tir_inplace @on_buffers(%{{.*}}, %{{.*}}, %{{.*}}) inplace [1, 2] sym [n]
  %0:2 = relax.call_tir_inplace @on_buffers(%x, %out, %scratch) inplace [1, 2] sym [n]
    : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi1, #relax.shape<[4*n]>>, tensor<64xi8>) -> (tensor<?xi1, #relax.shape<[4*n]>>, tensor<64xi8>)
  // CHECK: relax.call_tir_inplace @on_buffers(%{{.*}}) inplace [-1, -1] sym [3]
  %1:2 = relax.call_tir_inplace @on_buffers(%x) inplace [-1, -1] sym [3]
    : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?xi1, #relax.shape<[4*n]>>, tensor<64xi8>)
  // CHECK: relax.call_tir @on_buffers(%{{.*}}) sym [5]
  %2:2 = relax.call_tir @on_buffers(%x) sym [5]
    : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?xi1, #relax.shape<[4*n]>>, tensor<64xi8>)
  relax.return
}
func.func private @on_buffers(memref<?x?xf32> {relax.shape = #relax.shape<[a, b]>}, memref<?xi1> {relax.shape = #relax.shape<[a*b]>}, memref<64xi8>, index)
