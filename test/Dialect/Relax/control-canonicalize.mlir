// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -canonicalize | FileCheck %s

// An `if` with a constant condition is replaced by the branch taken.
// CHECK-LABEL: relax.func @known_branch
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = relax.exp %[[X]]
// CHECK-NEXT:    %[[N:.*]] = relax.negative %[[E]]
// CHECK-NEXT:    relax.return %[[N]]
relax.func @known_branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %true = arith.constant true
  %false = relax.constant dense<false> : tensor<i1>
  %0 = relax.if %true : i1 -> tensor<4xf32> {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  %2 = relax.if %false : tensor<i1> -> tensor<4xf32> {
    relax.yield %0 : tensor<4xf32>
  } else {
    %3 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  }
  relax.return %2 : tensor<4xf32>
}

// -----

// Symbols of a branch end with it: a later cast redefines `n`.
// CHECK-LABEL: relax.func @symbols_of_a_branch
// CHECK:         relax.if
// CHECK:         relax.match_cast %{{.*}} : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
// CHECK:         relax.match_cast %{{.*}} : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
relax.func @symbols_of_a_branch(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %true = arith.constant true
  %0 = relax.if %true : i1 -> tensor<?xf32> {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[n]>>
  } else {
    relax.yield %x : tensor<?xf32>
  }
  %2 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0, %2 : tensor<?xf32>, tensor<?xf32, #relax.shape<[n]>>
}

// -----

// Conditions that always hold are not asserted; conditions that never hold fail at run time.
// CHECK-LABEL: relax.func @asserts
// CHECK-NOT:     "holds"
// CHECK:         relax.assert %{{.*}}, "fails"
relax.func @asserts() {
  %true = arith.constant true
  %false = arith.constant false
  relax.assert %true, "holds" : i1
  relax.assert %false, "fails" : i1
  relax.return
}
