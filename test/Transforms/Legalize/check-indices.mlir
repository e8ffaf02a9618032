// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-check-indices | FileCheck %s

// Each op whose indices must be valid gets a check; `of` names the indexed dimension.
// CHECK-LABEL: relax.func @gathers
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x4xf32, {{[^:]*}}, %[[I:[a-z0-9]*]]: {{[^:]*}}, %[[J:[a-z0-9]*]]: {{[^:]*}}, %[[T:[a-z0-9]*]]:
// CHECK-NEXT: relax.check_indices %[[I]] in [n] of ["dimension 0 of x"] for "take" "indices" : tensor<?xi64, #relax.shape<[m]>>
// CHECK-NEXT: relax.take
// CHECK-NEXT: relax.check_indices %[[I]] in [4*n] of ["all elements of x"] for "take" "indices"
// CHECK-NEXT: relax.take
// CHECK-NEXT: relax.check_indices %[[J]] in [4] of ["dimension 1 of data"] for "gather_elements" "indices"
// CHECK-NEXT: relax.gather_elements
// CHECK-NEXT: relax.check_indices %[[T]] in [n, 4] of ["dimension 0 of data", "dimension 1 of data"] for "gather_nd" "indices"
// CHECK-NEXT: relax.gather_nd
// CHECK-NEXT: relax.check_indices %[[J]] in [n] of ["dimension 0 of data"] for "index_tensor" "indices[0]"
// CHECK-NEXT: relax.check_indices %[[T]] in [4] of ["dimension 1 of data"] for "index_tensor" "indices[1]"
// CHECK-NEXT: relax.index_tensor
// CHECK-NEXT: relax.return
relax.func @gathers(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?xi64, #relax.shape<[m]>>, %j: tensor<?x2xi32, #relax.shape<[n, 2]>>, %t: tensor<?x2xi64, #relax.shape<[n, 2]>>) {
  %0 = relax.take %x, %i axis -2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %1 = relax.take %x, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %2 = relax.gather_elements %x, %j axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
  %3 = relax.gather_nd %x, %t : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[n, 2]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %4 = relax.index_tensor %x, %j, %t : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>, tensor<?x2xi64, #relax.shape<[n, 2]>>) -> tensor<?x2xf32, #relax.shape<[n, 2]>>
  relax.return
}

// -----

// CHECK-LABEL: relax.func @scatters
// CHECK: relax.check_indices %{{.*}} in [4] of ["dimension 1 of data"] for "scatter_elements" "indices"
// CHECK-NEXT: relax.scatter_elements
// CHECK-NEXT: relax.check_indices %{{.*}} in [n] of ["dimension 0 of data"] for "scatter_nd" "indices"
// CHECK-NEXT: relax.scatter_nd
// CHECK-NEXT: relax.check_indices %{{.*}} in [n] of ["dimension 0 of data"] for "index_put" "indices"
// CHECK-NEXT: relax.index_put
// CHECK-NEXT: relax.return
relax.func @scatters(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?x2xi64, #relax.shape<[n, 2]>>, %v: tensor<?x2xf32, #relax.shape<[n, 2]>>, %t: tensor<?x1xi32, #relax.shape<[m, 1]>>, %r: tensor<?x4xf32, #relax.shape<[m, 4]>>, %p: tensor<?xi64, #relax.shape<[m]>>) {
  %0 = relax.scatter_elements %x, %i, %v axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi64, #relax.shape<[n, 2]>>, tensor<?x2xf32, #relax.shape<[n, 2]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.scatter_nd %x, %t, %r : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x1xi32, #relax.shape<[m, 1]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %2 = relax.index_put %x at %p values %r : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

// Tables of a rotary embedding do not count from the end. A single position is the position of the first of k tokens.
// CHECK-LABEL: relax.func @rotary
// CHECK: relax.check_indices %{{.*}} in [p] of ["dimension 0 of cos"] for "rotary_embedding" "positions" non_negative : tensor<?xi32, #relax.shape<[k]>>
// CHECK: relax.check_indices %{{.*}} in [{{-k \+ p \+ 1|p - k \+ 1}}] of ["the rows of cos at which x may begin"] for "rotary_embedding" "positions" non_negative : tensor<i64>
relax.func @rotary(%x: tensor<1x?x2x8xf32, #relax.shape<[1, k, 2, 8]>>, %i: tensor<?xi32, #relax.shape<[k]>>, %s: tensor<i64>, %t: tensor<?x4xf32, #relax.shape<[p, 4]>>) {
  %0 = relax.rotary_embedding %x positions %i cos %t sin %t : (tensor<1x?x2x8xf32, #relax.shape<[1, k, 2, 8]>>, tensor<?xi32, #relax.shape<[k]>>, tensor<?x4xf32, #relax.shape<[p, 4]>>, tensor<?x4xf32, #relax.shape<[p, 4]>>) -> tensor<1x?x2x8xf32, #relax.shape<[1, k, 2, 8]>>
  %1 = relax.rotary_embedding %x positions %s cos %t sin %t : (tensor<1x?x2x8xf32, #relax.shape<[1, k, 2, 8]>>, tensor<i64>, tensor<?x4xf32, #relax.shape<[p, 4]>>, tensor<?x4xf32, #relax.shape<[p, 4]>>) -> tensor<1x?x2x8xf32, #relax.shape<[1, k, 2, 8]>>
  relax.return
}

// -----

// Ops that accept any integer, and tensors without elements, need no check.
// CHECK-LABEL: relax.func @unchecked
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @unchecked(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?xi64, #relax.shape<[m]>>, %e: tensor<0xi64>) {
  %0 = relax.take %x, %i axis 0 {mode = "clip"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %1 = relax.take %x, %i axis 0 {mode = "wrap"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %2 = relax.take %x, %i axis 0 {mode = "fast"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %3 = relax.one_hot %i depth 10 on 1.0 : f32 off 0.0 : f32 : (tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x10xf32, #relax.shape<[m, 10]>>
  %4 = relax.take %x, %e axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<0xi64>) -> tensor<0x4xf32>
  relax.return
}

// -----

// An unknown dimension gets a symbol; a known dimension does not need one.
// CHECK-LABEL: relax.func @unknown
// CHECK-NEXT: relax.match_cast %{{.*}} : (tensor<?x4xf32>) -> tensor<?x4xf32, #relax.shape<[d0, 4]>>
// CHECK-NEXT: relax.check_indices %{{.*}} in [d0]
// CHECK-NEXT: relax.take
// CHECK-NEXT: relax.check_indices %{{.*}} in [4]
relax.func @unknown(%x: tensor<?x4xf32>, %i: tensor<?xi64>, %u: tensor<*xf32>) {
  %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %1 = relax.take %x, %i axis 1 : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  relax.return
}

// -----

// Equal checks are inserted once, except where the first check may not have
// run.
// CHECK-LABEL: relax.func @once
// CHECK: relax.if
// CHECK: relax.check_indices
// CHECK: } else {
// CHECK: relax.yield
// CHECK: relax.check_indices
// CHECK: relax.take
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @once(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[n]>>, %i: tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>> {
  %0 = relax.if %c : i1 -> tensor<?xf32> {
    %a = relax.take %x, %i axis 0 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %a : tensor<?xf32, #relax.shape<[m]>>
  } else {
    relax.yield %x : tensor<?xf32, #relax.shape<[n]>>
  }
  %1 = relax.take %y, %i axis 0 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %2 = relax.if %c : i1 -> tensor<?xf32, #relax.shape<[m]>> {
    %a = relax.take %x, %i axis 0 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %a : tensor<?xf32, #relax.shape<[m]>>
  } else {
    relax.yield %1 : tensor<?xf32, #relax.shape<[m]>>
  }
  relax.return %2 : tensor<?xf32, #relax.shape<[m]>>
}

// -----

// A check is a side effect: a dataflow block around it is dissolved, and calls of the function are no longer pure.
// CHECK-LABEL: relax.func private @pick
// CHECK-NOT: pure
// CHECK: relax.check_indices
// CHECK-LABEL: relax.func @main
// CHECK-NOT: relax.dataflow
// CHECK: relax.call @pick(
// CHECK: relax.return
relax.func private @pick(%x: tensor<?xf32, #relax.shape<[n]>>, %i: tensor<i64>) -> tensor<f32> attributes {pure} {
  %0 = relax.take %x, %i axis 0 : (tensor<?xf32, #relax.shape<[n]>>, tensor<i64>) -> tensor<f32>
  relax.return %0 : tensor<f32>
}
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %i: tensor<i64>) -> tensor<f32> {
  %0 = relax.dataflow -> tensor<f32> {
    %a = relax.call pure @pick(%x, %i) : (tensor<?xf32, #relax.shape<[n]>>, tensor<i64>) -> tensor<f32>
    relax.output %a : tensor<f32>
  }
  relax.return %0 : tensor<f32>
}

// -----

// Kernels of the program declare which parameters hold indices.
// CHECK-LABEL: relax.func @kernel
// CHECK-NEXT: relax.check_indices %{{.*}} in [10] of ["what it indexes"] for "rows" "operand 0" non_negative
// CHECK-NEXT: relax.call_tir @rows
func.func private @rows(%ids: tensor<?xi64> {relax.shape = #relax.shape<[m]>, relax.index_bound = 10 : i64}, %out: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[m]>})
relax.func @kernel(%i: tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>> {
  %0 = relax.call_tir @rows(%i) : (tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[m]>>
}
