// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-bind-symbols='symbols=n=128' | FileCheck %s
// RUN: relax-opt %s -split-input-file -pass-pipeline='builtin.module(relax-bind-symbols{symbols="n=128"})' | FileCheck %s

// Parameters, results, body, attributes and ranges are the same as if written
// with 128.
// CHECK-LABEL: relax.func @everywhere(
// CHECK-SAME:    %{{.*}}: tensor<128x?xf32, #relax.shape<[128, m]>>, %{{.*}}: !relax.shape<[128]>
// CHECK-SAME:    -> (tensor<128x?xf32, #relax.shape<[128, m]>>, !relax.shape<[256, m]>, index)
// CHECK-SAME:    attributes {relax.symbols = {m = #relax.range<1, 8>}}
// CHECK:         relax.exp {{.*}} -> tensor<128x?xf32, #relax.shape<[128, m]>>
// CHECK:         relax.shape [256, m] : !relax.shape<[256, m]>
// CHECK:         relax.sym 32
relax.func @everywhere(%x: tensor<?x?xf32, #relax.shape<[n, m]>>, %s: !relax.shape<[n]>) -> (tensor<?x?xf32, #relax.shape<[n, m]>>, !relax.shape<[2*n, m]>, index)
    attributes {relax.symbols = {n = #relax.range<1, 2048, multiple_of = 16>, m = #relax.range<1, 8>}} {
  %0 = relax.exp %x : (tensor<?x?xf32, #relax.shape<[n, m]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  %1 = relax.shape [2*n, m] : !relax.shape<[2*n, m]>
  %2 = relax.sym (n + 3) floordiv 4 : index
  relax.return %0, %1, %2 : tensor<?x?xf32, #relax.shape<[n, m]>>, !relax.shape<[2*n, m]>, index
}

// A function without the symbol does not change.
// CHECK-LABEL: relax.func @other(
// CHECK-SAME:    tensor<?xf32, #relax.shape<[k]>>
relax.func @other(%x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> {
  relax.return %x : tensor<?xf32, #relax.shape<[k]>>
}

// -----

// An integer parameter stays, and is checked.
// CHECK-LABEL: relax.func @integer(
// CHECK-SAME:    %[[N:.*]]: index, %{{.*}}: i1)
// CHECK-NOT:     relax.symbol
// CHECK-DAG:     %[[C:.*]] = arith.constant 128 : index
// CHECK-DAG:     %[[S:.*]] = relax.sym 128
// CHECK:         %[[EQ:.*]] = arith.cmpi eq, %[[N]], %[[C]]
// CHECK:         relax.assert %[[EQ]], "parameter 0 of @integer must be n = 128"
// CHECK:         relax.make_shape %[[S]] : (index) -> !relax.shape<[128]>
relax.func @integer(%n: index {relax.symbol = "n"}, %c: i1) -> !relax.shape<[n]> {
  %0 = relax.make_shape %n : (index) -> !relax.shape<[n]>
  relax.return %0 : !relax.shape<[n]>
}

// -----

// A symbol of a cast becomes a check.
// CHECK-LABEL: relax.func @cast(
// CHECK:         relax.match_cast {{.*}} -> tensor<128xf32>
// CHECK:         relax.sym 129
relax.func @cast(%x: tensor<?xf32>) -> index {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sym n + 1 : index
  relax.return %1 : index
}

// -----

// If the result types of a call are finer than the new signature, a cast
// asserts them.
// CHECK-LABEL: relax.func @caller(
// CHECK:         %[[R:.*]] = relax.call @callee({{.*}} -> tensor<128xf32>
// CHECK:         %[[A:.*]] = relax.match_cast %[[R]] : (tensor<128xf32>) -> tensor<?xf32, #relax.shape<[a]>>
// CHECK:         relax.return %[[A]]
relax.func @caller(%x: tensor<?xf32, #relax.shape<[a]>>) -> tensor<?xf32, #relax.shape<[a]>> {
  %0 = relax.call @callee(%x) : (tensor<?xf32, #relax.shape<[a]>>) -> tensor<?xf32, #relax.shape<[a]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[a]>>
}
// A call with coarse result types needs no cast.
// CHECK-LABEL: relax.func @coarse(
// CHECK-NOT:     relax.match_cast
relax.func @coarse(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.call @callee(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}
// CHECK-LABEL: relax.func private @callee(
// CHECK-SAME:    tensor<128xf32>) -> tensor<128xf32>
relax.func private @callee(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  relax.return %x : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// A closure keeps its type: a wrapper has the old signature, and checks the
// argument.
// CHECK-LABEL: relax.func @closure(
// CHECK:         relax.make_closure @target_unbound()
relax.func @closure() -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.make_closure @target() : () -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>)
  relax.return %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
}
// CHECK-LABEL: relax.func private @target_unbound(
// CHECK-SAME:    #relax.shape<[n]>
// CHECK:         %[[R:.*]] = relax.call @target({{.*}} -> tensor<128xf32>
// CHECK:         relax.match_cast %[[R]] : (tensor<128xf32>) -> tensor<?xf32, #relax.shape<[n]>>
// CHECK-LABEL: relax.func private @target(
// CHECK-SAME:    tensor<128xf32>
relax.func private @target(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  relax.return %x : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// Kernels are called with the value.
// CHECK-LABEL: relax.func @kernel(
// CHECK:         relax.call_tir @double(%{{.*}}) sym [128]
// CHECK:       func.func private @double(tensor<?xf32> {relax.shape = #relax.shape<[n]>}
relax.func @kernel(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.call_tir @double(%x) sym [n] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
func.func private @double(tensor<?xf32> {relax.shape = #relax.shape<[n]>}, tensor<?xf32> {relax.shape = #relax.shape<[n]>}, index {relax.symbol = "n"}) -> tensor<?xf32>
