// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-to-dataflow | FileCheck %s
// Dissolving the blocks restores the program.
// RUN: relax-opt %s -split-input-file -relax-cse > %t.before
// RUN: relax-opt %s -split-input-file -relax-to-dataflow -relax-inline-dataflow -relax-cse | diff %t.before -

// There is one block between ops with side effects; values that are used later
// become its results.
// CHECK-LABEL: relax.func @runs(
// CHECK-NEXT:    %[[D:.*]] = relax.dataflow -> tensor<4xf32> {
// CHECK-NEXT:      relax.exp
// CHECK-NEXT:      %[[E:.*]] = relax.exp
// CHECK-NEXT:      relax.output %[[E]] : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.assert
// CHECK-NEXT:    relax.dataflow
// CHECK-NEXT:      relax.exp %[[D]]
relax.func @runs(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  relax.assert %c, "between" : i1
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %3 : tensor<4xf32>
}

// Symbols stay visible after the block; ops without operands that use them are
// repeated there, so that types can still be deduced.
// CHECK-LABEL: relax.func @symbols(
// CHECK-NEXT:    relax.dataflow {
// CHECK-NEXT:      relax.match_cast
// CHECK-NEXT:      relax.sym n
// CHECK-NEXT:      relax.output
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[S:.*]] = relax.sym n
// CHECK-NEXT:    relax.assert
// CHECK-NEXT:    relax.make_shape %[[S]] : (index) -> !relax.shape<[n]>
relax.func @symbols(%c: i1, %x: tensor<?xf32>) -> !relax.shape<1> {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sym n : index
  relax.assert %c, "between" : i1
  %2 = relax.make_shape %1 : (index) -> !relax.shape<[n]>
  relax.return %2 : !relax.shape<[n]>
}

// Blocks are created in branches and loops, but never contain them. A single op
// does not become a block.
// CHECK-LABEL: relax.func @branches(
// CHECK-NEXT:    relax.exp
// CHECK-NEXT:    relax.if
// CHECK-NEXT:      relax.dataflow
// CHECK:         } else {
// CHECK-NEXT:      relax.yield
relax.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.if %c : i1 -> tensor<4xf32> {
    %2 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = relax.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return %1 : tensor<4xf32>
}

// A call may have side effects.
// CHECK-LABEL: relax.func @call(
// CHECK-NOT:     relax.dataflow
relax.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @callee(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %2 : tensor<4xf32>
}
relax.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32>
