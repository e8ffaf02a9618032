// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-convert-kernel-boundary | FileCheck %s

// Inputs are read, destinations written; symbolic shapes and symbols are kept.
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x4xf32> {relax.shape = #relax.shape<[n, 4]>},
// CHECK-SAME:    %[[OUT:[a-z0-9]+]]: memref<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}, %{{.*}}: index {relax.symbol = "m"}) {
// CHECK-NEXT:    %[[XT:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK-NEXT:    %[[OT:.*]] = bufferization.to_tensor %[[OUT]] restrict writable :
// CHECK-NEXT:    %[[R:.*]] = linalg.exp ins(%[[XT]] : {{.*}}) outs(%[[OT]] :
// CHECK-NEXT:    bufferization.materialize_in_destination %[[R]] in restrict writable %[[OUT]]
// CHECK-NEXT:    return
func.func private @kernel(
    %x: tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>},
    %out: tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>},
    %m: index {relax.symbol = "m"}) -> (tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) {
  %0 = linalg.exp ins(%x : tensor<?x4xf32>) outs(%out : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Two destinations: results go to the last tensor parameters, in order.
// CHECK-LABEL: func.func private @two(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK:         materialize_in_destination {{.*}} %[[A]] :
// CHECK-NEXT:    materialize_in_destination {{.*}} %[[B]] :
func.func private @two(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.negf ins(%x : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Bounds of symbols are kept along with the shapes that define the symbols.
// CHECK-LABEL: func.func private @bounded(
// CHECK-SAME:    relax.shape = #relax.shape<[n]>
// CHECK-SAME:    attributes {relax.symbols = {n = #relax.range<1, 8>}}
func.func private @bounded(
    %x: tensor<?xf32> {relax.shape = #relax.shape<[n]>},
    %out: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[n]>})
    attributes {relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Only the type of a declaration changes.
// CHECK-LABEL: func.func private @declared(memref<?xf32> {relax.shape = #relax.shape<[n]>}, memref<?xi1> {relax.shape = #relax.shape<[n]>})
func.func private @declared(tensor<?xf32> {relax.shape = #relax.shape<[n]>}, tensor<?xi1> {relax.shape = #relax.shape<[n]>}) -> (tensor<?xi1> {relax.shape = #relax.shape<[n]>})

// A function on memrefs already is a kernel on buffers.
// CHECK-LABEL: func.func @memrefs(
// CHECK-NEXT:    return
func.func @memrefs(%x: memref<4xf32>) {
  return
}
