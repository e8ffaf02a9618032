// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The passes of the default pipelines that see graph functions and kernels.
// RUN: relax-opt %s -relax-simplify -relax-legalize -relax-fuse-tir=final=true -relax-fuse-ops -relax-fuse-tir -relax-fuse-siblings -relax-fuse-row-producers -relax-fuse-tir -relax-dce | FileCheck %s

!v = tensor<?xf32, #relax.shape<[n]>>
!w = tensor<?x4xf32, #relax.shape<[n, 4]>>

// The calls of a marked function are one kernel; the ops around it would be part of it otherwise, and are grouped
// without it.
// CHECK-LABEL: relax.func @neighbors(
// CHECK-NEXT:    %[[A:.*]] = relax.call_tir @fused_exp_tanh(%{{.*}})
// CHECK-NEXT:    %[[B:.*]] = relax.call_tir @own(%[[A]])
// CHECK-NEXT:    %[[C:.*]] = relax.call_tir @fused_relu_negative(%[[B]])
// CHECK-NEXT:    relax.return %[[C]]
relax.func @neighbors(%x: !v) -> !v {
  %0 = relax.exp %x : (!v) -> !v
  %1 = relax.tanh %0 : (!v) -> !v
  %2 = relax.call pure @own(%1) : (!v) -> !v
  %3 = relax.relu %2 : (!v) -> !v
  %4 = relax.negative %3 : (!v) -> !v
  relax.return %4 : !v
}
// A function that is used twice with different sizes is one kernel; a dataflow block in it is dissolved.
// CHECK-LABEL: relax.func @twice(
// CHECK-NEXT:    relax.call_tir @own(
// CHECK-NEXT:    relax.call_tir @own(
relax.func @twice(%x: tensor<?xf32, #relax.shape<[2*k]>>, %y: tensor<8xf32>, %s: !relax.shape<[k]>)
    -> (tensor<?xf32, #relax.shape<[2*k]>>, tensor<8xf32>) {
  %0 = relax.call pure @own(%x) : (tensor<?xf32, #relax.shape<[2*k]>>) -> tensor<?xf32, #relax.shape<[2*k]>>
  %1 = relax.call pure @own(%y) : (tensor<8xf32>) -> tensor<8xf32>
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[2*k]>>, tensor<8xf32>
}
// CHECK-LABEL: func.func private @own(
// CHECK-SAME:    attributes {relax.primitive}
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
relax.func private @own(%x: !v) -> !v attributes {pure, relax.primitive} {
  %0 = relax.dataflow -> !v {
    %1 = relax.sigmoid %x : (!v) -> !v
    %2 = relax.multiply %x, %1 : (!v, !v) -> !v
    relax.output %2 : !v
  }
  relax.return %0 : !v
}

// Constants are operands of the kernel; a number is part of it.
// CHECK-LABEL: relax.func @constants(
// CHECK-NEXT:    %[[C:.*]] = relax.constant dense<[1.0{{.*}}, 2.0{{.*}}, 3.0{{.*}}, 4.0{{.*}}]>
// CHECK-NEXT:    relax.call_tir @scaled(%{{.*}}, %[[C]])
relax.func @constants(%x: !w) -> !w {
  %0 = relax.call pure @scaled(%x) : (!w) -> !w
  relax.return %0 : !w
}
relax.func private @scaled(%x: !w) -> !w attributes {pure, relax.primitive} {
  %0 = relax.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = relax.constant dense<0.5> : tensor<f32>
  %2 = relax.multiply %x, %0 : (!w, tensor<4xf32>) -> !w
  %3 = relax.multiply %2, %1 : (!w, tensor<f32>) -> !w
  relax.return %3 : !w
}

// More than the default passes group: two contractions and a softmax. They are not grouped with the normalization, nor
// with the contraction of the same operand.
// CHECK-LABEL: relax.func @attention(
// CHECK-NEXT:    relax.call_tir @rms_norm
// CHECK-NEXT:    %[[S:.*]] = relax.call_tir @scores(
// CHECK-NEXT:    relax.call_tir @matmul
// CHECK-NEXT:    relax.return
relax.func @attention(%x: !w, %g: tensor<4xf32>, %m: tensor<4x4xf32>) -> (!w, !w) {
  %0 = relax.rms_norm %x weight %g axes [1] : (!w, tensor<4xf32>) -> !w
  %1 = relax.call pure @scores(%0, %m) : (!w, tensor<4x4xf32>) -> !w
  %2 = relax.matmul %0, %m : (!w, tensor<4x4xf32>) -> !w
  relax.return %1, %2 : !w, !w
}
relax.func private @scores(%x: !w, %m: tensor<4x4xf32>) -> !w attributes {pure, relax.primitive} {
  %0 = relax.matmul %x, %m : (!w, tensor<4x4xf32>) -> !w
  %1 = relax.softmax %0 : (!w) -> !w
  %2 = relax.matmul %1, %m : (!w, tensor<4x4xf32>) -> !w
  relax.return %2 : !w
}

// A marked function that another one calls is part of its kernel.
// CHECK-LABEL: relax.func @nested(
// CHECK-NEXT:    relax.call_tir @outer(
// CHECK-NEXT:    relax.return
relax.func @nested(%x: !v) -> !v {
  %0 = relax.call pure @outer(%x) : (!v) -> !v
  relax.return %0 : !v
}
relax.func private @outer(%x: !v) -> !v attributes {pure, relax.primitive} {
  %0 = relax.call pure @own(%x) : (!v) -> !v
  %1 = relax.exp %0 : (!v) -> !v
  relax.return %1 : !v
}

// Bounds that the caller declares, too, are checked there.
// CHECK-LABEL: relax.func @bounds(
// CHECK-NEXT:    relax.call_tir @bounded(
relax.func @bounds(%x: !v) -> !v attributes {relax.symbols = {n = #relax.range<1, 4>}} {
  %0 = relax.call pure @bounded(%x) : (!v) -> !v
  relax.return %0 : !v
}
relax.func private @bounded(%x: !v) -> !v attributes {pure, relax.primitive, relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = relax.exp %x : (!v) -> !v
  relax.return %0 : !v
}

// Kernels see unsigned integers as signless ones.
// CHECK-LABEL: relax.func @unsigned(
// CHECK-NEXT:    %[[A:.*]] = relax.call_tir @fused_add_multiply{{.*}}(%{{.*}}) : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
// CHECK-NEXT:    relax.call_tir @bytes(%[[A]]) : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
!u = tensor<?xui8, #relax.shape<[n]>>
relax.func @unsigned(%x: !u) -> !u {
  %0 = relax.add %x, %x : (!u, !u) -> !u
  %1 = relax.multiply %0, %0 : (!u, !u) -> !u
  %2 = relax.call pure @bytes(%1) : (!u) -> !u
  relax.return %2 : !u
}
relax.func private @bytes(%x: !u) -> !u attributes {pure, relax.primitive} {
  %0 = relax.add %x, %x : (!u, !u) -> !u
  relax.return %0 : !u
}

// The shape that a tensor was filled by is not needed in a kernel.
// CHECK-LABEL: relax.func @filled(
// CHECK-NEXT:    relax.call_tir @plus_two(%{{.*}})
// CHECK-NEXT:    relax.return
relax.func @filled(%x: !v) -> !v {
  %0 = relax.call pure @plus_two(%x) : (!v) -> !v
  relax.return %0 : !v
}
relax.func private @plus_two(%x: !v) -> !v attributes {pure, relax.primitive} {
  %0 = relax.shape [n] : !relax.shape<[n]>
  %1 = relax.constant dense<2.0> : tensor<f32>
  %2 = relax.full %0, %1 : (!relax.shape<[n]>, tensor<f32>) -> !v
  %3 = relax.add %x, %2 : (!v, !v) -> !v
  relax.return %3 : !v
}

// A kernel does not need a shape whose sizes the caller knows.
// CHECK-LABEL: relax.func @known_shape(
// CHECK-SAME:    %[[X:.*]]: tensor
// CHECK-NEXT:    relax.call_tir @with_shape(%[[X]])
// CHECK-NEXT:    relax.return
relax.func @known_shape(%x: !v, %s: !relax.shape<[n]>) -> !v {
  %0 = relax.call pure @with_shape(%s, %x) : (!relax.shape<[n]>, !v) -> !v
  relax.return %0 : !v
}
relax.func private @with_shape(%s: !relax.shape<[k]>, %x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> attributes {pure, relax.primitive} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[k]>>
}
