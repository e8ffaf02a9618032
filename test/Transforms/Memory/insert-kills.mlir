// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-each -relax-lower-call-tir -relax-insert-kills | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-lower-call-tir -relax-insert-kills -relax-insert-kills | FileCheck %s

// A storage dies after the last use of its tensor; a returned storage is killed
// before the terminator, which takes a reference.
// CHECK-LABEL: relax.func @chain(
// CHECK:         %[[S0:.*]] = relax.alloc_storage
// CHECK:         %[[A:.*]] = relax.call_tir_inplace
// CHECK:         %[[S1:.*]] = relax.alloc_storage
// CHECK:         %[[B:.*]] = relax.call_tir_inplace @k(%[[A]],
// CHECK-NEXT:    relax.kill %[[S0]] : !relax.storage
// CHECK-NEXT:    relax.kill %[[S1]] : !relax.storage
// CHECK-NEXT:    relax.return %[[B]]
relax.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call_tir @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// Casts, reshapes and tuples are aliases: they keep the storage alive.
// CHECK-LABEL: relax.func @aliases(
// CHECK:         %[[S0:.*]] = relax.alloc_storage
// CHECK:         relax.match_cast
// CHECK:         relax.tuple
// CHECK:         relax.get
// CHECK:         relax.reshape
// CHECK:         %[[S1:.*]] = relax.alloc_storage
// CHECK-NOT:     relax.kill
// CHECK:         relax.call_tir_inplace @k2
// CHECK-NEXT:    relax.kill %[[S0]]
// CHECK-NEXT:    relax.kill %[[S1]]
// CHECK-NEXT:    relax.return
relax.func @aliases(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.match_cast %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.tuple %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %3 = relax.get %2[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %4 = relax.reshape %3 to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %5 = relax.call_tir @k2(%4) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  relax.return %5 : tensor<2x2xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func private @k2(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>

// -----

// Results of calls, branches and graph ops are owned by the block that contains
// the op; parameters and constants are borrowed, and not killed.
// CHECK-LABEL: relax.func @received(
// CHECK-NEXT:    relax.constant
// CHECK-NEXT:    %[[C:.*]]:2 = relax.call @callee
// CHECK-NEXT:    relax.kill %[[C]]#1 : tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = relax.add %[[C]]#0
// CHECK-NEXT:    relax.kill %[[C]]#0 : tensor<4xf32>
// CHECK-NEXT:    %[[I:.*]] = relax.if
// CHECK-NEXT:      relax.yield %[[E]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[N:.*]] = relax.exp %[[E]]
// CHECK-NEXT:      relax.kill %[[N]]
// CHECK-NEXT:      relax.yield %[[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.kill %[[E]]
// CHECK-NEXT:    %[[T:.*]] = relax.call @pair(%[[I]])
// CHECK-NEXT:    relax.kill %[[I]]
// CHECK-NEXT:    %[[G:.*]] = relax.get %[[T]][0]
// CHECK-NEXT:    relax.kill %[[T]] : tuple<tensor<4xf32>, index>
// CHECK-NEXT:    relax.return %[[G]]
relax.func @received(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %w = relax.constant dense<1.0> : tensor<4xf32>
  %0:2 = relax.call @callee(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = relax.add %0#0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %1 : tensor<4xf32>
  } else {
    %3 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  }
  %4 = relax.call @pair(%2) : (tensor<4xf32>) -> tuple<tensor<4xf32>, index>
  %5 = relax.get %4[0] : (tuple<tensor<4xf32>, index>) -> tensor<4xf32>
  relax.return %5 : tensor<4xf32>
}
relax.func private @callee(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
relax.func private @pair(tensor<4xf32>) -> tuple<tensor<4xf32>, index>

// -----

// A value whose last use is in a branch dies after the `if`: the other branch
// does not kill it. A value that a branch creates dies in the branch.
// CHECK-LABEL: relax.func @branch(
// CHECK:         %[[S0:.*]] = relax.alloc_storage
// CHECK:         %[[I:.*]] = relax.if
// CHECK:           %[[S1:.*]] = relax.alloc_storage
// CHECK:           %[[S2:.*]] = relax.alloc_storage
// CHECK:           relax.call_tir_inplace
// CHECK-NEXT:      relax.kill %[[S1]]
// CHECK-NEXT:      relax.kill %[[S2]]
// CHECK-NEXT:      relax.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relax.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.kill %[[S0]]
// CHECK-NEXT:    relax.kill %[[I]]
// CHECK-NEXT:    relax.return
relax.func @branch(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.if %c : i1 -> tensor<4xf32> {
    %2 = relax.call_tir @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = relax.call_tir @k(%2) : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return %1 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// A loop's body owns its arguments; its condition borrows them.
// CHECK-LABEL: relax.func @loop(
// CHECK-NEXT:    %[[W:.*]]:2 = relax.while
// CHECK:           %[[P:.*]] = relax.less
// CHECK:           relax.kill %[[P]]
// CHECK-NEXT:      relax.condition %[[P]]
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT:      relax.kill %[[B]]
// CHECK-NEXT:      %[[S:.*]] = relax.alloc_storage
// CHECK:           %[[N:.*]] = relax.call_tir_inplace @k(%[[A]]
// CHECK-NEXT:      relax.kill %[[A]]
// CHECK-NEXT:      relax.kill %[[S]]
// CHECK-NEXT:      relax.yield %[[N]], %[[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.kill %[[W]]#1
// CHECK-NEXT:    relax.kill %[[W]]#0
// CHECK-NEXT:    relax.return %[[W]]#0
relax.func @loop(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = relax.while %x, %x : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = relax.less %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    relax.condition %1 : tensor<i1>
  } do {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = relax.call_tir @k(%a) : (tensor<f32>) -> tensor<f32>
    relax.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  relax.return %0#0 : tensor<f32>
}
func.func private @k(tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

// A closure holds its own references, and is itself owned.
// CHECK-LABEL: relax.func @closure(
// CHECK:         %[[S:.*]] = relax.alloc_storage
// CHECK:         %[[F:.*]] = relax.make_closure
// CHECK-NEXT:    relax.kill %[[S]]
// CHECK-NEXT:    %[[R:.*]] = relax.call_closure %[[F]]
// CHECK-NEXT:    relax.kill %[[F]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relax.kill %[[R]] : tensor<4xf32>
// CHECK-NEXT:    relax.return
relax.func @closure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.make_closure @scale(%0) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %2 = relax.call_closure %1(%x) : (tensor<4xf32>) -> tensor<4xf32> calls (tensor<4xf32>) -> tensor<4xf32>
  relax.return %2 : tensor<4xf32>
}
relax.func private @scale(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
