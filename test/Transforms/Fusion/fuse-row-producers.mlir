// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-fuse-row-producers | FileCheck %s

// A kernel that scales each row by its sum is grouped with the product of the rows.
// CHECK-LABEL: relax.func @main
// CHECK: relax.call pure @fused_scale_multiply(%arg0, %arg1)
// CHECK-NOT: call_tir
// CHECK: relax.return
relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_tir @scale(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @multiply(%0, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// With another reader, the rows themselves are needed, so nothing is grouped.
// CHECK-LABEL: relax.func @read_twice
// CHECK: relax.call_tir @scale
// CHECK: relax.call_tir @multiply
relax.func @read_twice(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) {
  %0 = relax.call_tir @scale(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @multiply(%0, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %0, %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// In a chain, each call is in one group: a product does not count as a producer of rows for the next product, and a
// kernel that scales twice stays separate.
// CHECK-LABEL: relax.func @chain
// CHECK: relax.call_tir @scale
// CHECK: relax.call pure @fused_scale_multiply
// CHECK: relax.call_tir @multiply
relax.func @chain(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_tir @scale(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @scale(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @multiply(%1, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %3 = relax.call_tir @multiply(%2, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %3 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// Nothing moves across a write, which may overwrite an operand.
// CHECK-LABEL: relax.func @written
// CHECK: relax.call_tir @scale
// CHECK: relax.call_tir_inplace
// CHECK: relax.call_tir @multiply
relax.func @written(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) {
  %0 = relax.call_tir @scale(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir_inplace @set(%w) inplace [0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = relax.call_tir @multiply(%0, %1) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %2, %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>
}

// A kernel that only sums does not compute rows element by element, so it is not grouped with its reader.
// CHECK-LABEL: relax.func @reduced
// CHECK: relax.call_tir @add_up
// CHECK: relax.call_tir @scale
relax.func @reduced(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_tir @add_up(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @scale(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// A kernel that computes the rows of a norm, and has readers after the norm, too, is grouped with the norm; the
// function returns both results.
// CHECK-LABEL: relax.func @kept
// CHECK-NEXT: %[[BOTH:.*]]:2 = relax.call pure @fused_double_scale(%arg0)
// CHECK-NEXT: %[[LATER:.*]] = relax.call_tir @double(%[[BOTH]]#0)
// CHECK-NEXT: relax.return %[[LATER]], %[[BOTH]]#1
relax.func @kept(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) {
  %0 = relax.call_tir @double(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @scale(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @double(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %2, %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>
}

// A value that is read before the norm must be computed before it.
// CHECK-LABEL: relax.func @read_before
// CHECK: relax.call_tir @double
// CHECK: relax.call_tir @double
// CHECK: relax.call_tir @scale
relax.func @read_before(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) {
  %0 = relax.call_tir @double(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @double(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @scale(%0) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %1, %2 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>
}

func.func private @double(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %0 = linalg.add ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @scale(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<?x8xf32>) outs(%1 : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %3 = arith.addf %o, %e : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  %4 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %2 : tensor<?x8xf32>, tensor<?xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%e: f32, %s: f32, %o: f32):
    %5 = arith.mulf %e, %s : f32
    linalg.yield %5 : f32
  } -> tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}
func.func private @add_up(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %o, %e : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @multiply(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @set(%w: tensor<8x8xf32>) -> tensor<8x8xf32>
