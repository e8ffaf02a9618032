// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -verify-each -relax-lower-call-tir -relax-reuse-in-place | FileCheck %s
// RUN: relax-opt %s -relax-lower-call-tir -relax-reuse-in-place -relax-reuse-in-place | FileCheck %s

!v = tensor<?xf32, #relax.shape<[n]>>

func.func private @exp(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = math.exp %e : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @add(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %y: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.addf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @transpose(%x: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
  ^bb0(%e: f32, %o: f32):
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @symmetric(%x: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.addf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @cast_half(%x: tensor<?xf32> {relax.shape = #relax.shape<[a]>}, %d: tensor<?xf16> {relax.shape = #relax.shape<[a]>}) -> (tensor<?xf16> {relax.shape = #relax.shape<[a]>}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf16>) {
  ^bb0(%e: f32, %o: f16):
    %1 = arith.truncf %e : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// A parameter is not overwritten, but the result of the first call is.
// CHECK-LABEL: relax.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor
// CHECK:         %[[S:.*]] = relax.alloc_storage 4*n
// CHECK:         %[[A:.*]] = relax.call_tir_inplace @exp(%[[X]],
// CHECK-NOT:     relax.alloc_storage
// CHECK:         %[[D:.*]] = relax.tensor_from_storage %[[S]] at 0
// CHECK:         relax.call_tir_inplace @exp(%[[A]], %[[D]]) inplace [1]
relax.func @chain(%x: !v) -> !v {
  %0 = relax.call_tir @exp(%x) : (!v) -> !v
  %1 = relax.call_tir @exp(%0) : (!v) -> !v
  relax.return %1 : !v
}

// An input is overwritten through a cast, which is an alias, unless the alias
// is still used.
// CHECK-LABEL: relax.func @cast(
// CHECK-COUNT-3: relax.alloc_storage
// CHECK-NOT:     relax.alloc_storage
// CHECK:         relax.return
relax.func @cast(%x: !v) -> !v {
  %0 = relax.call_tir @exp(%x) : (!v) -> !v
  %1 = relax.match_cast %0 : (!v) -> !v
  %2 = relax.call_tir @exp(%x) : (!v) -> !v
  %3 = relax.call_tir @add(%0, %1) : (!v, !v) -> !v
  %4 = relax.call_tir @add(%2, %3) : (!v, !v) -> !v
  relax.return %4 : !v
}

// A kernel that also reads at other elements needs its own memory.
// CHECK-LABEL: relax.func @both(
// CHECK-COUNT-2: relax.alloc_storage
relax.func @both(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relax.call_tir @transpose(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.call_tir @symmetric(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  relax.return %1 : tensor<4x4xf32>
}

// Reads at other elements, and other element types, need separate memory.
// CHECK-LABEL: relax.func @unlike(
// CHECK-COUNT-4: relax.alloc_storage
relax.func @unlike(%x: tensor<4x4xf32>, %y: !v) -> (tensor<4x4xf32>, tensor<?xf16, #relax.shape<[n]>>) {
  %0 = relax.call_tir @transpose(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.call_tir @transpose(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relax.call_tir @exp(%y) : (!v) -> !v
  %3 = relax.call_tir @cast_half(%2) : (!v) -> tensor<?xf16, #relax.shape<[n]>>
  relax.return %1, %3 : tensor<4x4xf32>, tensor<?xf16, #relax.shape<[n]>>
}

// Tensors that a call may have returned, or that a closure captured, are not overwritten.
// CHECK-LABEL: relax.func @captured(
// CHECK-COUNT-4: relax.alloc_storage
relax.func @captured(%x: !v) -> (!v, !v, !v, () -> tensor<?xf32>) {
  %0 = relax.call_tir @exp(%x) : (!v) -> !v
  %1 = relax.call @id(%0) : (!v) -> !v
  %2 = relax.call_tir @exp(%0) : (!v) -> !v
  %3 = relax.call_tir @exp(%x) : (!v) -> !v
  %4 = relax.make_closure @any(%3) : (!v) -> (() -> tensor<?xf32>)
  %5 = relax.call_tir @exp(%3) : (!v) -> !v
  relax.return %1, %2, %5, %4 : !v, !v, !v, () -> tensor<?xf32>
}
relax.func private @id(tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
relax.func private @any(tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32>

// In a loop, the next iteration reads values from outside again.
// CHECK-LABEL: relax.func @loop(
// CHECK:         relax.alloc_storage
// CHECK:         relax.while
// CHECK:         } do {
// CHECK:           %[[S:.*]] = relax.alloc_storage
// CHECK:           relax.call_tir_inplace @add
// CHECK:           relax.tensor_from_storage %[[S]]
// CHECK-NEXT:      relax.call_tir_inplace @exp
relax.func @loop(%c: i1, %x: !v) -> !v {
  %0 = relax.call_tir @exp(%x) : (!v) -> !v
  %1 = relax.while %x : (!v) -> !v {
  ^bb0(%a: !v):
    relax.condition %c : i1
  } do {
  ^bb0(%a: !v):
    %2 = relax.call_tir @add(%0, %a) : (!v, !v) -> !v
    %3 = relax.call_tir @exp(%2) : (!v) -> !v
    relax.yield %3 : !v
  }
  relax.return %1 : !v
}

// A view is overwritten only if nothing uses its storage anymore
// (apache/tvm#19577).
// CHECK-LABEL: relax.func @views(
// CHECK-COUNT-3: relax.alloc_storage
// CHECK-NOT:     relax.alloc_storage
// CHECK:         relax.return
relax.func @views(%x: tensor<1x?xf32, #relax.shape<[1, n]>>) -> !v {
  %0 = relax.call_library "make"(%x) {relax.borrows} : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> tensor<1x?xf32, #relax.shape<[1, n]>>
  %1 = relax.squeeze %0 {axis = array<i64: 0>} : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> !v
  %2 = relax.reshape %0 to [n] : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> !v
  %3 = relax.call_tir @add(%1, %2) : (!v, !v) -> !v
  %4 = relax.call_tir @add(%3, %2) : (!v, !v) -> !v
  %5 = relax.call_library "make"(%4) {relax.borrows} : (!v) -> !v
  %6 = relax.flatten %5 : (!v) -> !v
  %7 = relax.call_tir @exp(%6) : (!v) -> !v
  relax.return %7 : !v
}
