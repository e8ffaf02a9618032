// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-each -relax-lower-call-tir | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-lower-call-tir -relax-lower-call-tir | FileCheck %s

// The destination comes after the inputs, and symbolic arguments stay.
// CHECK-LABEL: relax.func @symbolic(
// CHECK-SAME:    %[[X:.*]]: tensor
// CHECK-NEXT:    %[[S:.*]] = relax.alloc_storage 8*n + 4 align 64 : !relax.storage
// CHECK-NEXT:    %[[D:.*]] = relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[2*n + 1]>>
// CHECK-NEXT:    %[[R:.*]] = relax.call_tir_inplace @k(%[[X]], %[[D]]) inplace [1] sym [n + 7]
// CHECK-NEXT:    relax.return %[[R]]
relax.func @symbolic(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[2*n + 1]>> {
  %0 = relax.call_tir @k(%x) sym [n + 7] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[2*n + 1]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[2*n + 1]>>
}
func.func private @k(tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[2*a + 1]>}, index {relax.symbol = "c"}) -> tensor<?xf32>

// -----

// Each result has its own storage; a Boolean takes a byte, and so does a 4-bit
// integer.
// CHECK-LABEL: relax.func @two(
// CHECK-NEXT:    %[[S0:.*]] = relax.alloc_storage 5 align 64
// CHECK-NEXT:    %[[D0:.*]] = relax.tensor_from_storage %[[S0]] at 0 : !relax.storage -> tensor<5xi1>
// CHECK-NEXT:    %[[S1:.*]] = relax.alloc_storage 4 align 64
// CHECK-NEXT:    %[[D1:.*]] = relax.tensor_from_storage %[[S1]] at 0 : !relax.storage -> tensor<4xi4>
// CHECK-NEXT:    %[[R:.*]]:2 = relax.call_tir_inplace @k(%[[D0]], %[[D1]]) inplace [0, 1]
// CHECK-NEXT:    relax.return %[[R]]#0, %[[R]]#1
relax.func @two() -> (tensor<5xi1>, tensor<4xi4>) {
  %0:2 = relax.call_tir @k() : () -> (tensor<5xi1>, tensor<4xi4>)
  relax.return %0#0, %0#1 : tensor<5xi1>, tensor<4xi4>
}
func.func private @k(tensor<5xi1>, tensor<4xi4>) -> (tensor<5xi1>, tensor<4xi4>)

// -----

// A library function gets its destinations the same way, and keeps its attributes.
// CHECK-LABEL: relax.func @library(
// CHECK:         relax.alloc_storage 32*n align 64
// CHECK:         relax.call_library_inplace "blas.sgemm"(%{{.*}}, %{{.*}}, %{{.*}}) inplace [2] sym [n] {alpha = 1.000000e+00 : f32}
relax.func @library(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_library "blas.sgemm"(%x, %w) sym [n] {alpha = 1.0 : f32} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %0 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// -----

// In a call that is in place for some results, the other results get destinations after the operands.
// CHECK-LABEL: relax.func @mixed(
// CHECK-SAME:    %[[Y:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<8xf32>
// CHECK:         %[[D:.*]] = relax.tensor_from_storage
// CHECK:         relax.call_tir_inplace @k(%[[Y]], %[[X]], %[[D]]) inplace [1, 2]
relax.func @mixed(%y: tensor<4xf32>, %x: tensor<8xf32>) -> tensor<2xf32> {
  %0:2 = relax.call_tir_inplace @k(%y, %x) inplace [1, -1] : (tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>)
  relax.return %0#1 : tensor<2xf32>
}
func.func private @k(tensor<4xf32>, tensor<8xf32>, tensor<2xf32>) -> (tensor<8xf32>, tensor<2xf32>)

// -----

// Calls in branches and loops are lowered, too; graph ops stay; nothing is pure anymore.
// CHECK-LABEL: relax.func private @nested(
// CHECK-NOT:     pure
// CHECK:         relax.if
// CHECK-NEXT:      relax.alloc_storage 16
// CHECK:           relax.call_tir_inplace @k
// CHECK:         } else {
// CHECK-NEXT:      relax.exp
// CHECK:         relax.while
// CHECK:         } do {
// CHECK:           relax.alloc_storage 16
// CHECK:           relax.call_tir_inplace @k
relax.func private @nested(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    %1 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  } else {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  }
  %2 = relax.while %0 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    %1 = relax.call_tir @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  }
  relax.return %2 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: relax.func @caller(
// CHECK-NEXT:    relax.call @nested
relax.func @caller(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call pure @nested(%c, %x) : (i1, tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
