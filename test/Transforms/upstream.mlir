// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Upstream's passes keep programs valid: symbols are defined before their uses,
// and ops that define live symbols stay.
// RUN: relax-opt %s -canonicalize | FileCheck %s
// RUN: relax-opt %s -cse | FileCheck %s
// RUN: relax-opt %s -sccp | FileCheck %s
// RUN: relax-opt %s -loop-invariant-code-motion | FileCheck %s
// RUN: relax-opt %s -control-flow-sink | FileCheck %s
// RUN: relax-opt %s -inline | FileCheck %s
// RUN: relax-opt %s -symbol-dce | FileCheck %s
// RUN: relax-opt %s -canonicalize -cse -sccp -loop-invariant-code-motion -inline -symbol-dce -canonicalize | FileCheck %s

// A use of a symbol does not move above its definition, unlike a constant.
// CHECK-LABEL: relax.func @order(
// CHECK:         relax.match_cast
// CHECK-NEXT:    relax.sym n
// CHECK:         relax.if
// CHECK-NEXT:      relax.match_cast
// CHECK-NEXT:      relax.sym m
relax.func @order(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (index, index) {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sym n + 1 : index
  %2 = relax.if %c : i1 -> index {
    %3 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %4 = relax.sym m : index
    relax.yield %4 : index
  } else {
    relax.yield %1 : index
  }
  relax.return %1, %2 : index, index
}

// A cast in a loop stays there, with the ops that use its symbol.
// CHECK-LABEL: relax.func @loop(
// CHECK:         relax.while
// CHECK:           relax.match_cast
// CHECK:           relax.shape [k]
relax.func @loop(%c: i1, %x: tensor<?xf32>, %s: !relax.shape<1>) -> !relax.shape<1> {
  %0 = relax.while %s : (!relax.shape<1>) -> !relax.shape<1> {
  ^bb0(%a: !relax.shape<1>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: !relax.shape<1>):
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
    %2 = relax.shape [k] : !relax.shape<[k]>
    relax.yield %2 : !relax.shape<[k]>
  }
  relax.return %0 : !relax.shape<1>
}

// A constant that SCCP propagates out of a call has the result type of the
// call.
// CHECK-LABEL: relax.func @constants(
relax.func @constants() -> (tensor<?xf32>, tensor<?xf32>, index) {
  // CHECK: relax.call @two
  %0:2 = relax.call @two() : () -> (tensor<?xf32>, tensor<?xf32>)
  %1 = relax.dataflow -> tensor<2xf32> {
    %2 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
    relax.output %2 : tensor<2xf32>
  }
  %3 = relax.dim %1, 0 : (tensor<2xf32>) -> index
  relax.return %0#0, %0#1, %3 : tensor<?xf32>, tensor<?xf32>, index
}
relax.func private @two() -> (tensor<2xf32>, tensor<4xf32>) {
  %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = relax.constant weight "w" : tensor<4xf32>
  relax.return %0, %1 : tensor<2xf32>, tensor<4xf32>
}
