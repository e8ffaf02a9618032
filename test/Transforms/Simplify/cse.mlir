// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-cse | FileCheck %s

// Equal ops are merged.
// CHECK-LABEL: relax.func @equal(
// CHECK-NEXT:    %[[E:.*]] = relax.exp
// CHECK-NEXT:    relax.return %[[E]], %[[E]]
relax.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The order of the operands of a sum does not matter.
// CHECK-LABEL: relax.func @commutative(
// CHECK-COUNT-1: relax.add
// CHECK-NOT:     relax.add
relax.func @commutative(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// An op with a finer result type replaces one with a coarser type, but not vice
// versa.
// CHECK-LABEL: relax.func @finer(
// CHECK-COUNT-1: relax.exp
// CHECK-NOT:     relax.exp
relax.func @finer(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32>
}
// CHECK-LABEL: relax.func @coarser(
// CHECK-COUNT-2: relax.exp
relax.func @coarser(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0, %1 : tensor<?xf32>, tensor<?xf32, #relax.shape<[n]>>
}

// -----

// Equal casts are merged; casts that define different symbols are not.
// CHECK-LABEL: relax.func @casts(
// CHECK:         %[[C:.*]] = relax.match_cast {{.*}} #relax.shape<[n]>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK-NOT:     relax.match_cast
// CHECK:         relax.return %[[C]], %[[C]]
relax.func @casts(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, index) {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  %2 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.sym n + m : index
  relax.return %0, %2, %3 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, index
}

// Symbols of two branches are different, whatever they are called.
// CHECK-LABEL: relax.func @branches(
// CHECK-COUNT-2: relax.match_cast
relax.func @branches(%c: i1, %x: tensor<?xf32>) -> index {
  %0 = relax.if %c : i1 -> index {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym m : index
    relax.yield %2 : index
  } else {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym m : index
    relax.yield %2 : index
  }
  relax.return %0 : index
}

// A value computed outside of a block is reused inside, but not vice versa.
// CHECK-LABEL: relax.func @nesting(
// CHECK:         %[[E:.*]] = relax.exp
// CHECK:         relax.dataflow
// CHECK-NEXT:      %[[A:.*]] = relax.add
// CHECK-NEXT:      relax.output %[[E]], %[[A]]
// CHECK:         relax.add
relax.func @nesting(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = relax.dataflow -> tensor<4xf32>, tensor<4xf32> {
    %3 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %4 = relax.add %3, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relax.output %3, %4 : tensor<4xf32>, tensor<4xf32>
  }
  %2 = relax.add %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %1#0, %1#1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Ops with different attributes, or with side effects, are not merged.
// CHECK-LABEL: relax.func @different(
// CHECK-COUNT-2: relax.sym
// CHECK-COUNT-2: relax.assert
relax.func @different(%s: !relax.shape<[n]>, %c: i1) -> (index, index) {
  %0 = relax.sym n : index
  %1 = relax.sym n + 1 : index
  relax.assert %c, "a" : i1
  relax.assert %c, "a" : i1
  relax.return %0, %1 : index, index
}
