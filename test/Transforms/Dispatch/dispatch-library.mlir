// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: relax-opt %t/program.mlir -verify-each -relax-dispatch-library=table=%t/table.mlir | FileCheck %s
// RUN: cat %t/table.mlir %t/program.mlir | relax-opt -relax-dispatch-library | FileCheck %s
// RUN: cat %t/table.mlir %t/program.mlir | relax-opt -relax-dispatch-library -relax-dispatch-library | FileCheck %s

//--- table.mlir
!x = tensor<?x?xf32, #relax.shape<[m, k]>>
!w = tensor<?x?xf32, #relax.shape<[k, n]>>
!y = tensor<?x?xf32, #relax.shape<[m, n]>>
relax.func private @gemm_bias_relu(%x: !x, %w: !w, %b: tensor<?xf32, #relax.shape<[n]>>) -> !y
    attributes {relax.library = {function = "blas.gemm_bias_relu", sym = [#relax.expr<m>, #relax.expr<n>, #relax.expr<k>], alpha = 1.0 : f32}} {
  %0 = relax.matmul %x, %w : (!x, !w) -> !y
  %1 = relax.add %0, %b : (!y, tensor<?xf32, #relax.shape<[n]>>) -> !y
  %2 = relax.relu %1 : (!y) -> !y
  relax.return %2 : !y
}
relax.func private @gemm(%x: !x, %w: !w) -> !y
    attributes {relax.library = {function = "blas.gemm"}, relax.symbols = {n = #relax.range<0, multiple_of = 8>}} {
  %0 = relax.matmul %x, %w : (!x, !w) -> !y
  relax.return %0 : !y
}
relax.func private @square(%x: tensor<*xf32>) -> tensor<*xf32> attributes {relax.library = {function = "ml.square"}} {
  %0 = relax.multiply %x, %x : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}

//--- program.mlir
!a = tensor<?x4xf32, #relax.shape<[b, 4]>>
!r = tensor<?x16xf32, #relax.shape<[b, 16]>>

// The larger pattern matches first; operands of a commutative op may be in
// either order.
// CHECK-NOT:   relax.func private
// CHECK-LABEL: relax.func @whole(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32, #relax.shape<[b, 4]>>, %[[W:.*]]: tensor<4x16xf32>, %[[B:.*]]: tensor<16xf32>
// CHECK-NEXT:    %[[R:.*]] = relax.call_library "blas.gemm_bias_relu"(%[[X]], %[[W]], %[[B]]) sym [b, 16, 4] {alpha = 1.000000e+00 : f32}
// CHECK-NEXT:    relax.return %[[R]]
relax.func @whole(%x: !a, %w: tensor<4x16xf32>, %b: tensor<16xf32>) -> !r {
  %0 = relax.matmul %x, %w : (!a, tensor<4x16xf32>) -> !r
  %1 = relax.add %b, %0 : (tensor<16xf32>, !r) -> !r
  %2 = relax.relu %1 : (!r) -> !r
  relax.return %2 : !r
}

// Values used elsewhere cannot be computed inside the call, so only the smaller
// pattern matches. Branches and dataflow blocks are searched, too.
// CHECK-LABEL: relax.func @part(
// CHECK-NEXT:    relax.call_library "blas.gemm"(%{{.*}}, %{{.*}}) :
// CHECK-NEXT:    relax.add
// CHECK-NEXT:    relax.relu
// CHECK-NEXT:    relax.if
// CHECK-NEXT:      relax.call_library "ml.square"
// CHECK:         } else {
// CHECK-NEXT:      relax.dataflow
// CHECK-NEXT:        relax.call_library "ml.square"
relax.func @part(%c: i1, %x: !a, %w: tensor<4x16xf32>, %b: tensor<16xf32>) -> (!r, !r) {
  %0 = relax.matmul %x, %w : (!a, tensor<4x16xf32>) -> !r
  %1 = relax.add %0, %b : (!r, tensor<16xf32>) -> !r
  %2 = relax.relu %1 : (!r) -> !r
  %3 = relax.if %c : i1 -> !r {
    %4 = relax.multiply %2, %2 : (!r, !r) -> !r
    relax.yield %4 : !r
  } else {
    %4 = relax.dataflow -> !r {
      %5 = relax.multiply %0, %0 : (!r, !r) -> !r
      relax.output %5 : !r
    }
    relax.yield %4 : !r
  }
  relax.return %1, %3 : !r, !r
}

// A condition that is not proved, another element type, another rank, an
// unknown size and different operands do not match.
// CHECK-LABEL: relax.func @none(
// CHECK-NOT:     relax.call_library
// CHECK:         relax.return
relax.func @none(%x: !a, %w: tensor<4x?xf32, #relax.shape<[4, n]>>, %h: tensor<4x4xf16>, %s: tensor<2x4x4xf32>, %u: tensor<*xf32>) {
  %0 = relax.matmul %x, %w : (!a, tensor<4x?xf32, #relax.shape<[4, n]>>) -> tensor<?x?xf32, #relax.shape<[b, n]>>
  %1 = relax.matmul %h, %h : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %2 = relax.matmul %s, %s : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = relax.multiply %u, %u : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %4 = relax.multiply %x, %0 : (!a, tensor<?x?xf32, #relax.shape<[b, n]>>) -> tensor<*xf32>
  relax.return
}

// The expression proves the condition: 8*n is a multiple of 8 (requested in apache/tvm PR#17139).
// CHECK-LABEL: relax.func @proved(
// CHECK-NEXT:    relax.call_library "blas.gemm"
relax.func @proved(%s: !relax.shape<[c]>, %x: tensor<?x?xf32, #relax.shape<[b, b*c]>>, %w: tensor<?x?xf32, #relax.shape<[c*b, 8*c]>>) -> tensor<?x?xf32, #relax.shape<[b, 8*c]>> {
  %0 = relax.matmul %x, %w : (tensor<?x?xf32, #relax.shape<[b, b*c]>>, tensor<?x?xf32, #relax.shape<[c*b, 8*c]>>) -> tensor<?x?xf32, #relax.shape<[b, 8*c]>>
  relax.return %0 : tensor<?x?xf32, #relax.shape<[b, 8*c]>>
}

// A function that becomes one kernel keeps its ops.
// CHECK-LABEL: relax.func private @own(
// CHECK-NEXT:    relax.matmul
relax.func private @own(%x: !a, %w: tensor<4x16xf32>) -> !r attributes {pure, relax.primitive} {
  %0 = relax.matmul %x, %w : (!a, tensor<4x16xf32>) -> !r
  relax.return %0 : !r
}
