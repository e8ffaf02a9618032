// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -verify-each -relax-fuse-ops -relax-fuse-tir -relax-dce | FileCheck %s
// RUN: relax-opt %s -relax-fuse-ops -relax-fuse-tir -relax-fuse-ops -relax-fuse-tir -relax-dce | FileCheck %s

!v = tensor<?xf32, #relax.shape<[n]>>
!m = tensor<?x8xf32, #relax.shape<[n, 8]>>
#i1 = affine_map<(i) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>

func.func private @exp(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [#i1, #i1], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = math.exp %e : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @add(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %y: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [#i1, #i1, #i1], iterator_types = ["parallel"]} ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.addf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @shift(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %s: i64 {relax.symbol = "s"}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [#i1, #i1], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.sitofp %s : i64 to f32
    %2 = arith.addf %e, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @exp2d(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}, %d: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) -> (tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = math.exp %e : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @bias(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}, %b: tensor<8xf32>, %d: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) -> (tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) {
  %0 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x8xf32>, tensor<8xf32>) outs(%d : tensor<?x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.addf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @matmul(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}, %w: tensor<8x8xf32>, %d: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) -> (tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}) {
  %c = arith.constant 0.0 : f32
  %i = linalg.fill ins(%c : f32) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @decode(%q: tensor<8x8xi8>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x8xi8>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%e: i8, %o: f32):
    %1 = arith.uitofp %e : i8 to f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @scale(%q: tensor<8x8xf32>, %s: tensor<8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<8x8xf32>, tensor<8xf32>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.mulf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @sum(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[a, 8]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %c = arith.constant 0.0 : f32
  %i = linalg.fill ins(%c : f32) outs(%d : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%i : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %e, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A diamond is one loop nest into the destination; a value used twice is
// computed once.
// CHECK-LABEL: relax.func @diamond(
// CHECK-NEXT:    relax.call_tir @fused_exp_exp_exp_add(%{{.*}}) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
relax.func @diamond(%x: !v) -> !v {
  %0 = relax.call_tir @exp(%x) : (!v) -> !v
  %1 = relax.call_tir @exp(%0) : (!v) -> !v
  %2 = relax.call_tir @exp(%0) : (!v) -> !v
  %3 = relax.call_tir @add(%1, %2) : (!v, !v) -> !v
  relax.return %3 : !v
}

// A symbolic argument is kept (apache/tvm PR#14555), and a symbol that occurs
// only in an expression of a shape is passed.
// CHECK-LABEL: relax.func @symbolic(
// CHECK-NEXT:    relax.call_tir @fused_exp_shift(%{{.*}}) sym [k] : (tensor<?xf32, #relax.shape<[2*k]>>) -> tensor<?xf32, #relax.shape<[2*k]>>
relax.func @symbolic(%x: tensor<?xf32, #relax.shape<[2*k]>>, %s: !relax.shape<[k]>) -> tensor<?xf32, #relax.shape<[2*k]>> {
  %0 = relax.call_tir @exp(%x) : (tensor<?xf32, #relax.shape<[2*k]>>) -> tensor<?xf32, #relax.shape<[2*k]>>
  %1 = relax.call_tir @shift(%0) sym [k + 1] : (tensor<?xf32, #relax.shape<[2*k]>>) -> tensor<?xf32, #relax.shape<[2*k]>>
  relax.return %1 : tensor<?xf32, #relax.shape<[2*k]>>
}

// Decoding, contraction and epilogue are nests of one kernel, in which unsigned
// bytes of the graph are signless. Equal groups of other functions share the
// kernel.
// CHECK-LABEL: relax.func @decoded(
// CHECK-NEXT:    relax.call_tir @fused_decode_scale_matmul_bias_exp2d(
// CHECK-LABEL: relax.func @decoded_too(
// CHECK-NEXT:    relax.call_tir @fused_decode_scale_matmul_bias_exp2d(
relax.func @decoded(%x: !m, %q: tensor<8x8xi8>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> !m {
  %0 = relax.call_tir @decode(%q) : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %1 = relax.call_tir @scale(%0, %s) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = relax.call_tir @matmul(%x, %1) : (!m, tensor<8x8xf32>) -> !m
  %3 = relax.call_tir @bias(%2, %b) : (!m, tensor<8xf32>) -> !m
  %4 = relax.call_tir @exp2d(%3) : (!m) -> !m
  relax.return %4 : !m
}
relax.func @decoded_too(%x: !m, %q: tensor<8x8xi8>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> !m {
  %0 = relax.call_tir @decode(%q) : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %1 = relax.call_tir @scale(%0, %s) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = relax.call_tir @matmul(%x, %1) : (!m, tensor<8x8xf32>) -> !m
  %3 = relax.call_tir @bias(%2, %b) : (!m, tensor<8xf32>) -> !m
  %4 = relax.call_tir @exp2d(%3) : (!m) -> !m
  relax.return %4 : !m
}

// An element-wise nest is fused into the reduction that reads it once.
// CHECK-LABEL: relax.func @reduced(
// CHECK-NEXT:    relax.call_tir @fused_exp2d_sum_exp(
relax.func @reduced(%x: !m) -> !v {
  %0 = relax.call_tir @exp2d(%x) : (!m) -> !m
  %1 = relax.call_tir @sum(%0) : (!m) -> !v
  %2 = relax.call_tir @exp(%1) : (!v) -> !v
  relax.return %2 : !v
}

// When kernels for any size are called with known sizes, the merged kernel has
// these sizes.
// CHECK-LABEL: relax.func @static(
// CHECK-NEXT:    relax.call_tir @fused_exp_add(
relax.func @static(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = relax.call_tir @exp(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = relax.call_tir @add(%0, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  relax.return %1 : tensor<16xf32>
}

// If a size is an expression of h, h is passed, and the size itself is taken
// from a parameter (apache/tvm#20238).
// CHECK-LABEL: relax.func @halved(
// CHECK-NEXT:    relax.call_tir @fused_matmul_bias(%{{.*}}, %{{.*}}, %{{.*}}) sym [h]
!h = tensor<?x8xf32, #relax.shape<[(h + 1) floordiv 2, 8]>>
relax.func @halved(%x: !h, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %s: !relax.shape<[h]>) -> !h {
  %0 = relax.call_tir @matmul(%x, %w) : (!h, tensor<8x8xf32>) -> !h
  %1 = relax.call_tir @bias(%0, %b) : (!h, tensor<8xf32>) -> !h
  relax.return %1 : !h
}

// CHECK-LABEL: func.func private @fused_exp_exp_exp_add(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32> {relax.shape = #relax.shape<[n]>}, %[[D:.*]]: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[n]>})
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>) outs(%[[D]] : tensor<?xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %[[A:.*]] = math.exp
// CHECK-NEXT:      %[[B:.*]] = math.exp %[[A]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[B]], %[[B]]
// CHECK-NEXT:      linalg.yield %[[S]]
// CHECK-NEXT:    } -> tensor<?xf32>
// CHECK-NEXT:    return %[[R]]

// CHECK-LABEL: func.func private @fused_exp_shift(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32> {relax.shape = #relax.shape<[2*k]>}, %[[D:.*]]: tensor<?xf32> {relax.shape = #relax.shape<[2*k]>}, %[[K:.*]]: index {relax.symbol = "k"})
// CHECK:         %[[S:.*]] = arith.addi %[[K]], %{{.*}} : index
// CHECK:         %[[C:.*]] = arith.index_cast %[[S]] : index to i64
// CHECK:         linalg.generic
// CHECK:           arith.sitofp %[[C]]
// CHECK-NOT:     linalg.generic
// CHECK:         return

// CHECK-LABEL: func.func private @fused_decode_scale_matmul_bias_exp2d(
// CHECK-SAME:    %[[Q:.*]]: tensor<8x8xi8>, %[[S:.*]]: tensor<8xf32>, %[[X:.*]]: tensor<?x8xf32> {{.*}}, %[[B:.*]]: tensor<8xf32>, %[[D:.*]]: tensor<?x8xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[S]] :
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]])
// CHECK:         %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK:         %[[M:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[F]]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]], %[[B]] : {{.*}}) outs(%[[D]]
// CHECK:         return %[[R]]

// CHECK-LABEL: func.func private @fused_exp2d_sum_exp(
// CHECK:         linalg.fill
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK-NOT:     linalg.generic
// CHECK:         return

// CHECK-LABEL: func.func private @fused_exp_add(
// CHECK-SAME:    %[[X:.*]]: tensor<16xf32>, %[[D:.*]]: tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<16xf32>) outs(%[[D]] : tensor<16xf32>)
// CHECK-NOT:     tensor.cast
// CHECK:         return %[[R]] : tensor<16xf32>

// CHECK-LABEL: func.func private @fused_matmul_bias(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32> {relax.shape = #relax.shape<[(h + 1) floordiv 2, 8]>}, {{.*}}, %{{.*}}: index {relax.symbol = "h"})
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK-NOT:     arith.floordivsi
// CHECK:         tensor.empty(%[[N]])

// CHECK-NOT: relax.primitive
