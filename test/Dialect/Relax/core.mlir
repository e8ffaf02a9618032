// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @casts(
relax.func @casts(%x: tensor<?x?xf32>, %s: !relax.shape<*>, %o: !relax.object) {
  // CHECK: relax.match_cast %{{.*}} : (tensor<?x?xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.match_cast %x : (tensor<?x?xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.match_cast %{{.*}} : (!relax.shape<*>) -> !relax.shape<[m, n + 1]>
  %1 = relax.match_cast %s : (!relax.shape<*>) -> !relax.shape<[m, n + 1]>
  // CHECK: relax.match_cast %{{.*}} : (!relax.object) -> tuple<tensor<?xi64, #relax.shape<[k]>>, !relax.shape<[k]>>
  %2 = relax.match_cast %o : (!relax.object) -> tuple<tensor<?xi64, #relax.shape<[k]>>, !relax.shape<[k]>>
  // Each of the two types may know a dimension that the other does not.
  // CHECK: relax.match_cast %{{.*}} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x?xf32, #relax.shape<[m, ?]>>
  %3 = relax.match_cast %0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x?xf32, #relax.shape<[m, ?]>>
  relax.return
}

// CHECK-LABEL: relax.func @shapes(
relax.func @shapes(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>, %i: index, %j: index {relax.symbol = "j"}, %t: tensor<3xi64>, %v: tensor<?xi32>) {
  // CHECK: relax.shape_of %{{.*}} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> !relax.shape<[n, 4]>
  %0 = relax.shape_of %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> !relax.shape<[n, 4]>
  // CHECK: relax.shape_of %{{.*}} : (tensor<*xf32>) -> !relax.shape<*>
  %1 = relax.shape_of %u : (tensor<*xf32>) -> !relax.shape<*>
  // CHECK: relax.shape [2*n, 0] : !relax.shape<[2*n, 0]>
  %2 = relax.shape [2*n, 0] : !relax.shape<[2*n, 0]>
  // CHECK: relax.shape [] : !relax.shape<[]>
  %3 = relax.shape [] : !relax.shape<[]>
  // CHECK: %[[S:.*]] = relax.sym (n + 3) floordiv 4 : index
  %4 = relax.sym (n + 3) floordiv 4 : index
  // CHECK: %[[D:.*]] = relax.dim %{{.*}}, -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> index
  %5 = relax.dim %x, -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> index
  %c = arith.constant 7 : index
  // Integers with known values are known dimensions of the shape.
  // CHECK: relax.make_shape %[[S]], %[[D]], %{{.*}}, %{{.*}}, %{{.*}} : {{.*}} -> !relax.shape<[(n + 3) floordiv 4, 4, 7, ?, j]>
  %6 = relax.make_shape %4, %5, %c, %i, %j : (index, index, index, index, index) -> !relax.shape<[(n + 3) floordiv 4, 4, 7, ?, j]>
  // CHECK: relax.dim %{{.*}}, 0 : (!relax.shape<[n, 4]>) -> index
  %7 = relax.dim %0, 0 : (!relax.shape<[n, 4]>) -> index
  // CHECK: relax.shape_to_tensor %{{.*}} : (!relax.shape<[n, 4]>) -> tensor<2xi64>
  %8 = relax.shape_to_tensor %0 : (!relax.shape<[n, 4]>) -> tensor<2xi64>
  // CHECK: relax.shape_to_tensor %{{.*}} : (!relax.shape<*>) -> tensor<?xi64>
  %9 = relax.shape_to_tensor %1 : (!relax.shape<*>) -> tensor<?xi64>
  // CHECK: relax.tensor_to_shape %{{.*}} : (tensor<2xi64>) -> !relax.shape<[n, 4]>
  %10 = relax.tensor_to_shape %8 : (tensor<2xi64>) -> !relax.shape<[n, 4]>
  // CHECK: relax.tensor_to_shape %{{.*}} : (tensor<3xi64>) -> !relax.shape<3>
  %11 = relax.tensor_to_shape %t : (tensor<3xi64>) -> !relax.shape<3>
  // CHECK: relax.tensor_to_shape %{{.*}} : (tensor<?xi32>) -> !relax.shape<*>
  %12 = relax.tensor_to_shape %v : (tensor<?xi32>) -> !relax.shape<*>
  relax.return
}

// CHECK-LABEL: relax.func @constants(
relax.func @constants() {
  // CHECK: %[[T:.*]] = relax.constant dense<[2, 3]> : tensor<2xi64>
  %0 = relax.constant dense<[2, 3]> : tensor<2xi64>
  // CHECK: relax.constant weight "model.w" : tensor<4x8xf16>
  %1 = relax.constant weight "model.w" : tensor<4x8xf16>
  // CHECK: relax.constant {note = 1 : i64} dense<true> : tensor<i1>
  %2 = relax.constant {note = 1 : i64} dense<true> : tensor<i1>
  // CHECK: relax.tensor_to_shape %[[T]] : (tensor<2xi64>) -> !relax.shape<[2, 3]>
  %3 = relax.tensor_to_shape %0 : (tensor<2xi64>) -> !relax.shape<[2, 3]>
  relax.return
}

// CHECK-LABEL: relax.func @tuples(
relax.func @tuples(%x: tensor<4xf32>, %i: index) {
  // CHECK: %[[T:.*]] = relax.tuple %{{.*}}, %{{.*}} : (tensor<4xf32>, index) -> tuple<tensor<4xf32>, index>
  %0 = relax.tuple %x, %i : (tensor<4xf32>, index) -> tuple<tensor<4xf32>, index>
  // CHECK: relax.get %[[T]][1] : (tuple<tensor<4xf32>, index>) -> index
  %1 = relax.get %0[1] : (tuple<tensor<4xf32>, index>) -> index
  // CHECK: relax.tuple : () -> tuple<>
  %2 = relax.tuple : () -> tuple<>
  relax.return
}

// An unsigned dimension is not negative.
// CHECK-LABEL: relax.func @unsigned_dimension
// CHECK: relax.tensor_to_shape %{{.*}} : (tensor<1xui8>) -> !relax.shape<[200]>
relax.func @unsigned_dimension() {
  %c = relax.constant dense<[200]> : tensor<1xui8>
  %s = relax.tensor_to_shape %c : (tensor<1xui8>) -> !relax.shape<[200]>
  relax.return
}
