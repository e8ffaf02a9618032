// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products: round trip and shapes.
// RUN: relax-opt %s | relax-opt | FileCheck %s

// An operand of rank 1 is a row or a column.
// CHECK-LABEL: relax.func @matmul_of_vectors
relax.func @matmul_of_vectors(%v: tensor<?xf32, #relax.shape<[k]>>, %a: tensor<?x4xf32, #relax.shape<[k, 4]>>, %b: tensor<2x5x?xf32, #relax.shape<[2, 5, k]>>) {
  // CHECK: relax.matmul %arg0, %arg0 : (tensor<?xf32, #relax.shape<[k]>>, tensor<?xf32, #relax.shape<[k]>>) -> tensor<f32>
  %0 = relax.matmul %v, %v : (tensor<?xf32, #relax.shape<[k]>>, tensor<?xf32, #relax.shape<[k]>>) -> tensor<f32>
  // CHECK: relax.matmul %arg0, %arg1 : (tensor<?xf32, #relax.shape<[k]>>, tensor<?x4xf32, #relax.shape<[k, 4]>>) -> tensor<4xf32>
  %1 = relax.matmul %v, %a : (tensor<?xf32, #relax.shape<[k]>>, tensor<?x4xf32, #relax.shape<[k, 4]>>) -> tensor<4xf32>
  // CHECK: relax.matmul %arg2, %arg0 : (tensor<2x5x?xf32, #relax.shape<[2, 5, k]>>, tensor<?xf32, #relax.shape<[k]>>) -> tensor<2x5xf32>
  %2 = relax.matmul %b, %v : (tensor<2x5x?xf32, #relax.shape<[2, 5, k]>>, tensor<?xf32, #relax.shape<[k]>>) -> tensor<2x5xf32>
  relax.return
}

// Batches broadcast, matrices do not.
// CHECK-LABEL: relax.func @matmul_of_batches
relax.func @matmul_of_batches(%x: tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, %y: tensor<?x3x4xf32, #relax.shape<[h, 3, 4]>>, %w: tensor<3x4xf32>) {
  // CHECK: relax.matmul %arg0, %arg1 : {{.*}} -> tensor<?x?x2x4xf32, #relax.shape<[b, h, 2, 4]>>
  %0 = relax.matmul %x, %y : (tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, tensor<?x3x4xf32, #relax.shape<[h, 3, 4]>>) -> tensor<?x?x2x4xf32, #relax.shape<[b, h, 2, 4]>>
  // CHECK: relax.matmul %arg0, %arg2 {out_dtype = f64} : {{.*}} -> tensor<?x1x2x4xf64, #relax.shape<[b, 1, 2, 4]>>
  %1 = relax.matmul %x, %w {out_dtype = f64} : (tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, tensor<3x4xf32>) -> tensor<?x1x2x4xf64, #relax.shape<[b, 1, 2, 4]>>
  relax.return
}

// The sums may be empty, the sizes undecided, and the rank unknown.
// CHECK-LABEL: relax.func @matmul_at_the_edges
relax.func @matmul_at_the_edges(%x: tensor<4x0xi32>, %y: tensor<0x5xi32>, %a: tensor<?x?xi32, #relax.shape<[n, k]>>, %b: tensor<?x?xi32, #relax.shape<[l, m]>>, %u: tensor<*xi32>) {
  // CHECK: relax.matmul %arg0, %arg1 : (tensor<4x0xi32>, tensor<0x5xi32>) -> tensor<4x5xi32>
  %0 = relax.matmul %x, %y : (tensor<4x0xi32>, tensor<0x5xi32>) -> tensor<4x5xi32>
  // CHECK: relax.matmul %arg2, %arg3 : {{.*}} -> tensor<?x?xi32, #relax.shape<[n, m]>>
  %1 = relax.matmul %a, %b : (tensor<?x?xi32, #relax.shape<[n, k]>>, tensor<?x?xi32, #relax.shape<[l, m]>>) -> tensor<?x?xi32, #relax.shape<[n, m]>>
  // CHECK: relax.matmul %arg4, %arg1 : (tensor<*xi32>, tensor<0x5xi32>) -> tensor<*xi32>
  %2 = relax.matmul %u, %y : (tensor<*xi32>, tensor<0x5xi32>) -> tensor<*xi32>
  relax.return
}

// The weight has shape [out, in]; x may have any rank.
// CHECK-LABEL: relax.func @linear
relax.func @linear(%x: tensor<?x?x8xf16, #relax.shape<[b, n, 8]>>, %v: tensor<8xf16>, %w: tensor<4x8xf16>, %b: tensor<4xf16>, %u: tensor<*xf16>, %wu: tensor<*xf16>) {
  // CHECK: relax.linear %arg0, %arg2, %arg3 : {{.*}} -> tensor<?x?x4xf16, #relax.shape<[b, n, 4]>>
  %0 = relax.linear %x, %w, %b : (tensor<?x?x8xf16, #relax.shape<[b, n, 8]>>, tensor<4x8xf16>, tensor<4xf16>) -> tensor<?x?x4xf16, #relax.shape<[b, n, 4]>>
  // CHECK: relax.linear %arg1, %arg2 {out_dtype = f32} : (tensor<8xf16>, tensor<4x8xf16>) -> tensor<4xf32>
  %1 = relax.linear %v, %w {out_dtype = f32} : (tensor<8xf16>, tensor<4x8xf16>) -> tensor<4xf32>
  // CHECK: relax.linear %arg4, %arg2 : (tensor<*xf16>, tensor<4x8xf16>) -> tensor<*xf16>
  %2 = relax.linear %u, %w : (tensor<*xf16>, tensor<4x8xf16>) -> tensor<*xf16>
  // The bias determines the number of output features.
  // CHECK: relax.linear %arg1, %arg5, %arg3 : (tensor<8xf16>, tensor<*xf16>, tensor<4xf16>) -> tensor<4xf16>
  %3 = relax.linear %v, %wu, %b : (tensor<8xf16>, tensor<*xf16>, tensor<4xf16>) -> tensor<4xf16>
  relax.return
}

// CHECK-LABEL: relax.func @outer
relax.func @outer(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<0xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.outer %arg0, %arg1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<0xf32>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %0 = relax.outer %x, %y : (tensor<?xf32, #relax.shape<[n]>>, tensor<0xf32>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.outer %arg2, %arg0 : (tensor<*xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x?xf32, #relax.shape<[?, n]>>
  %1 = relax.outer %u, %x : (tensor<*xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x?xf32, #relax.shape<[?, n]>>
  relax.return
}

// Subscripts express products, transpositions, diagonals and sums; the result
// may be implicit.
// CHECK-LABEL: relax.func @einsum_letters
relax.func @einsum_letters(%x: tensor<?x2x3xf32, #relax.shape<[b, 2, 3]>>, %y: tensor<?x3x4xf32, #relax.shape<[b, 3, 4]>>, %s: tensor<?x?xf32, #relax.shape<[n, n]>>, %e: tensor<f32>) {
  // CHECK: relax.einsum "bij,bjk->bik"(%arg0, %arg1) : {{.*}} -> tensor<?x2x4xf32, #relax.shape<[b, 2, 4]>>
  %0 = relax.einsum "bij,bjk->bik"(%x, %y) : (tensor<?x2x3xf32, #relax.shape<[b, 2, 3]>>, tensor<?x3x4xf32, #relax.shape<[b, 3, 4]>>) -> tensor<?x2x4xf32, #relax.shape<[b, 2, 4]>>
  // CHECK: relax.einsum " b i j , b j k "(%arg0, %arg1) : {{.*}} -> tensor<2x4xf32>
  %1 = relax.einsum " b i j , b j k "(%x, %y) : (tensor<?x2x3xf32, #relax.shape<[b, 2, 3]>>, tensor<?x3x4xf32, #relax.shape<[b, 3, 4]>>) -> tensor<2x4xf32>
  // Capitals come first.
  // CHECK: relax.einsum "abC"(%arg0) : {{.*}} -> tensor<3x?x2xf32, #relax.shape<[3, b, 2]>>
  %2 = relax.einsum "abC"(%x) : (tensor<?x2x3xf32, #relax.shape<[b, 2, 3]>>) -> tensor<3x?x2xf32, #relax.shape<[3, b, 2]>>
  // CHECK: relax.einsum "ii"(%arg2) : (tensor<?x?xf32, #relax.shape<[n, n]>>) -> tensor<f32>
  %3 = relax.einsum "ii"(%s) : (tensor<?x?xf32, #relax.shape<[n, n]>>) -> tensor<f32>
  // CHECK: relax.einsum "ii->i"(%arg2) : {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
  %4 = relax.einsum "ii->i"(%s) : (tensor<?x?xf32, #relax.shape<[n, n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  // CHECK: relax.einsum "ij->"(%arg2) : {{.*}} -> tensor<f32>
  %5 = relax.einsum "ij->"(%s) : (tensor<?x?xf32, #relax.shape<[n, n]>>) -> tensor<f32>
  // CHECK: relax.einsum ",bij->jb"(%arg3, %arg0) : {{.*}} -> tensor<3x?xf32, #relax.shape<[3, b]>>
  %6 = relax.einsum ",bij->jb"(%e, %x) : (tensor<f32>, tensor<?x2x3xf32, #relax.shape<[b, 2, 3]>>) -> tensor<3x?xf32, #relax.shape<[3, b]>>
  relax.return
}

// An ellipsis stands for the remaining dimensions, which broadcast.
// CHECK-LABEL: relax.func @einsum_ellipsis
relax.func @einsum_ellipsis(%x: tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, %y: tensor<?x3x4xf32, #relax.shape<[h, 3, 4]>>, %w: tensor<3x4xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.einsum "...ij,...jk->...ik"(%arg0, %arg1) : {{.*}} -> tensor<?x?x2x4xf32, #relax.shape<[b, h, 2, 4]>>
  %0 = relax.einsum "...ij,...jk->...ik"(%x, %y) : (tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, tensor<?x3x4xf32, #relax.shape<[h, 3, 4]>>) -> tensor<?x?x2x4xf32, #relax.shape<[b, h, 2, 4]>>
  // CHECK: relax.einsum "i...j,jk"(%arg0, %arg2) : {{.*}} -> tensor<1x2x?x4xf32, #relax.shape<[1, 2, b, 4]>>
  %1 = relax.einsum "i...j,jk"(%x, %w) : (tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>, tensor<3x4xf32>) -> tensor<1x2x?x4xf32, #relax.shape<[1, 2, b, 4]>>
  // The ellipsis is summed over if the result does not contain it.
  // CHECK: relax.einsum "...j->j"(%arg0) : {{.*}} -> tensor<3xf32>
  %2 = relax.einsum "...j->j"(%x) : (tensor<?x1x2x3xf32, #relax.shape<[b, 1, 2, 3]>>) -> tensor<3xf32>
  // The ellipsis stands for no dimensions.
  // CHECK: relax.einsum "...jk->k...j"(%arg2) : {{.*}} -> tensor<4x3xf32>
  %3 = relax.einsum "...jk->k...j"(%w) : (tensor<3x4xf32>) -> tensor<4x3xf32>
  relax.return
}

// Letters determine the rank of an unranked operand; an ellipsis does not.
// CHECK-LABEL: relax.func @einsum_unranked
relax.func @einsum_unranked(%u: tensor<*xf32>, %w: tensor<3x4xf32>) {
  // CHECK: relax.einsum "ij,jk->ik"(%arg0, %arg1) : {{.*}} -> tensor<?x4xf32>
  %0 = relax.einsum "ij,jk->ik"(%u, %w) : (tensor<*xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  // CHECK: relax.einsum "...j,jk->...k"(%arg0, %arg1) : {{.*}} -> tensor<*xf32>
  %1 = relax.einsum "...j,jk->...k"(%u, %w) : (tensor<*xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  // CHECK: relax.einsum "...j,jk->k"(%arg0, %arg1) : {{.*}} -> tensor<4xf32>
  %2 = relax.einsum "...j,jk->k"(%u, %w) : (tensor<*xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  relax.return
}

// A shared letter broadcasts a size of 1, so the result of two symbols is their
// broadcast.
// CHECK-LABEL: relax.func @einsum_broadcast
relax.func @einsum_broadcast(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>, %one: tensor<1xf32>) {
  // CHECK: relax.einsum "i,i->i"(%arg0, %arg1) : {{.*}} -> tensor<?xf32, #relax.shape<[broadcast(m, n)]>>
  %0 = relax.einsum "i,i->i"(%x, %y) : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[broadcast(m, n)]>>
  // CHECK: relax.einsum "i,i->i"(%arg2, %arg0) : {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.einsum "i,i->i"(%one, %x) : (tensor<1xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}
