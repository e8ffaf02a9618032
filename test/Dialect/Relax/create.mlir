// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that create tensors: round trip and shapes.
// RUN: relax-opt %s | relax-opt | FileCheck %s

// The result has the shape operand's dimensions, as far as they are known.
// CHECK-LABEL: relax.func @from_shape
relax.func @from_shape(%s: !relax.shape<[n, 0]>, %r: !relax.shape<2>, %u: !relax.shape<*>, %e: !relax.shape<[]>, %f: tensor<f32>) {
  // CHECK: relax.full %arg0, %arg4 : (!relax.shape<[n, 0]>, tensor<f32>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %0 = relax.full %s, %f : (!relax.shape<[n, 0]>, tensor<f32>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.full %arg1, %arg4 {dtype = i1} : (!relax.shape<2>, tensor<f32>) -> tensor<?x?xi1>
  %1 = relax.full %r, %f {dtype = i1} : (!relax.shape<2>, tensor<f32>) -> tensor<?x?xi1>
  // CHECK: relax.zeros %arg2 {dtype = f32} : (!relax.shape<*>) -> tensor<*xf32>
  %2 = relax.zeros %u {dtype = f32} : (!relax.shape<*>) -> tensor<*xf32>
  // CHECK: relax.ones %arg3 {dtype = bf16} : (!relax.shape<[]>) -> tensor<bf16>
  %3 = relax.ones %e {dtype = bf16} : (!relax.shape<[]>) -> tensor<bf16>
  relax.return
}

// The result has the shape of another tensor, and its element type or a given
// one.
// CHECK-LABEL: relax.func @like
relax.func @like(%x: tensor<?x1xf32, #relax.shape<[n, 1]>>, %u: tensor<*xi8>, %f: tensor<i64>) {
  // CHECK: relax.full_like %arg0, %arg2 : (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<i64>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
  %0 = relax.full_like %x, %f : (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<i64>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
  // CHECK: relax.zeros_like %arg0 {dtype = i64} : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<?x1xi64, #relax.shape<[n, 1]>>
  %1 = relax.zeros_like %x {dtype = i64} : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<?x1xi64, #relax.shape<[n, 1]>>
  // CHECK: relax.ones_like %arg1 : (tensor<*xi8>) -> tensor<*xi8>
  %2 = relax.ones_like %u : (tensor<*xi8>) -> tensor<*xi8>
  relax.return
}

// Static sizes are exact: the last step may be shorter, and there may be none.
// CHECK-LABEL: relax.func @arange_static
relax.func @arange_static() {
  // CHECK: relax.arange 0, 10, 3 {dtype = i64} : tensor<4xi64>
  %0 = relax.arange 0, 10, 3 {dtype = i64} : tensor<4xi64>
  // CHECK: relax.arange 10, 0, -3 {dtype = f32} : tensor<4xf32>
  %1 = relax.arange 10, 0, -3 {dtype = f32} : tensor<4xf32>
  // CHECK: relax.arange 10, 0, 1 {dtype = i32} : tensor<0xi32>
  %2 = relax.arange 10, 0, 1 {dtype = i32} : tensor<0xi32>
  // CHECK: relax.arange 0, 10, -1 {dtype = i32} : tensor<0xi32>
  %3 = relax.arange 0, 10, -1 {dtype = i32} : tensor<0xi32>
  // CHECK: relax.arange 5, 5, 1 {dtype = i32} : tensor<0xi32>
  %4 = relax.arange 5, 5, 1 {dtype = i32} : tensor<0xi32>
  relax.return
}

// Sizes may be symbolic: a symbol is not negative, but a difference of symbols
// may be.
// CHECK-LABEL: relax.func @arange_symbolic
relax.func @arange_symbolic(%n: tensor<?xf32, #relax.shape<[n]>>, %m: tensor<?xf32, #relax.shape<[m]>>) {
  // CHECK: relax.arange 0, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  %0 = relax.arange 0, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  // CHECK: relax.arange m, m + n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  %1 = relax.arange m, n + m, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  // CHECK: relax.arange 0, n, 2 {dtype = i64} : tensor<?xi64, #relax.shape<[(n + 1) floordiv 2]>>
  %2 = relax.arange 0, n, 2 {dtype = i64} : tensor<?xi64, #relax.shape<[n ceildiv 2]>>
  // CHECK: relax.arange n - 1, -1, -1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  %3 = relax.arange n - 1, -1, -1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  // CHECK: relax.arange m, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(n - m, 0)]>>
  %4 = relax.arange m, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(n - m, 0)]>>
  // CHECK: relax.arange 0, n, m {dtype = i64} : tensor<?xi64>
  %5 = relax.arange 0, n, m {dtype = i64} : tensor<?xi64>
  // CHECK: relax.arange 0, n, m + 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n ceildiv (m + 1)]>>
  %6 = relax.arange 0, n, m + 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n ceildiv (m + 1)]>>
  relax.return
}

// If a symbol may be negative, the size contains a maximum with 0.
// CHECK-LABEL: relax.func @arange_of_negative_symbol
relax.func @arange_of_negative_symbol(%k: index {relax.symbol = "k"}) attributes {relax.symbols = {k = #relax.range<-8, 8>}} {
  // CHECK: relax.arange 0, k, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(k, 0)]>>
  %0 = relax.arange 0, k, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(k, 0)]>>
  relax.return
}

// Diagonals and triangles, also outside of the matrix.
// CHECK-LABEL: relax.func @matrices
relax.func @matrices(%x: tensor<2x?x0xi1, #relax.shape<[2, n, 0]>>, %u: tensor<*xf32>) {
  // CHECK: relax.eye n, 4 {dtype = f32, k = -100 : i64} : tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.eye n, 4 {dtype = f32, k = -100} : tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.eye 0, 1 {dtype = i1} : tensor<0x1xi1>
  %1 = relax.eye 0, 1 {dtype = i1} : tensor<0x1xi1>
  // CHECK: relax.tril %arg0 : (tensor<2x?x0xi1, #relax.shape<[2, n, 0]>>) -> tensor<2x?x0xi1, #relax.shape<[2, n, 0]>>
  %2 = relax.tril %x : (tensor<2x?x0xi1, #relax.shape<[2, n, 0]>>) -> tensor<2x?x0xi1, #relax.shape<[2, n, 0]>>
  // CHECK: relax.triu %arg1 {k = 1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.triu %u {k = 1} : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}

// Each operand contributes a dimension; "xy" swaps the first two.
// CHECK-LABEL: relax.func @meshgrid
relax.func @meshgrid(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<4xi64>, %z: tensor<f32>, %u: tensor<*xf32>) {
  // CHECK: relax.meshgrid %arg0, %arg1, %arg2 : ({{.*}}) -> (tensor<?x4x1xf32, #relax.shape<[n, 4, 1]>>, tensor<?x4x1xi64, #relax.shape<[n, 4, 1]>>, tensor<?x4x1xf32, #relax.shape<[n, 4, 1]>>)
  %0:3 = relax.meshgrid %x, %y, %z : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xi64>, tensor<f32>) -> (tensor<?x4x1xf32, #relax.shape<[n, 4, 1]>>, tensor<?x4x1xi64, #relax.shape<[n, 4, 1]>>, tensor<?x4x1xf32, #relax.shape<[n, 4, 1]>>)
  // CHECK: relax.meshgrid %arg0, %arg1 {indexing = "xy"} : ({{.*}}) -> (tensor<4x?xf32, #relax.shape<[4, n]>>, tensor<4x?xi64, #relax.shape<[4, n]>>)
  %1:2 = relax.meshgrid %x, %y {indexing = "xy"} : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xi64>) -> (tensor<4x?xf32, #relax.shape<[4, n]>>, tensor<4x?xi64, #relax.shape<[4, n]>>)
  // CHECK: relax.meshgrid %arg3, %arg1 : (tensor<*xf32>, tensor<4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
  %2:2 = relax.meshgrid %u, %y : (tensor<*xf32>, tensor<4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
  relax.return
}
