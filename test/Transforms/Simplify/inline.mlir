// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-inline -relax-dce | FileCheck %s
// RUN: relax-opt %s -split-input-file -inline | FileCheck %s --check-prefix=UPSTREAM

// The callee's symbol is replaced by its binding.
// CHECK-LABEL: relax.func @bound(
// CHECK-NEXT:    %[[E:.*]] = relax.exp {{.*}} -> tensor<?xf32, #relax.shape<[2*n]>>
// CHECK-NEXT:    %[[S:.*]] = relax.sym 2*n + 1
// CHECK-NEXT:    relax.return %[[E]], %[[S]]
// CHECK-NOT:   @callee
// UPSTREAM-LABEL: relax.func @bound(
// UPSTREAM:         relax.call @callee
relax.func @bound(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> (tensor<?xf32>, index) {
  %0:2 = relax.call @callee(%x) : (tensor<?xf32, #relax.shape<[2*n]>>) -> (tensor<?xf32, #relax.shape<[2*n]>>, index)
  relax.return %0#0, %0#1 : tensor<?xf32, #relax.shape<[2*n]>>, index
}
relax.func private @callee(%x: tensor<?xf32, #relax.shape<[k]>>) -> (tensor<?xf32, #relax.shape<[k]>>, index) {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  %1 = relax.sym k + 1 : index
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[k]>>, index
}

// -----

// A symbol that the operand does not determine becomes a fresh symbol, even if
// the caller has one of that name.
// CHECK-LABEL: relax.func @unbound(
// CHECK:         %[[C:.*]] = relax.match_cast %{{.*}} : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k_1]>>
// CHECK:         relax.exp %[[C]] : {{.*}} -> tensor<?xf32, #relax.shape<[k_1]>>
// CHECK-NOT:     relax.call
relax.func @unbound(%s: !relax.shape<[k]>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.call @callee(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}
relax.func private @callee(%x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[k]>>
}

// -----

// Symbols of the callee's casts are renamed each time; their ranges move with them.
// CHECK-LABEL: relax.func @twice(
// CHECK-SAME:    m = #relax.range<1, 8>, m_1 = #relax.range<1, 8>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK:         relax.sym m :
// CHECK:         relax.match_cast {{.*}} #relax.shape<[m_1]>
// CHECK:         relax.sym m_1 :
relax.func @twice(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (index, index) {
  %0 = relax.call @size(%x) : (tensor<?xf32>) -> index
  %1 = relax.call @size(%y) : (tensor<?xf32>) -> index
  relax.return %0, %1 : index, index
}
relax.func private @size(%x: tensor<?xf32>) -> index attributes {relax.symbols = {m = #relax.range<1, 8>}} {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.sym m : index
  relax.return %1 : index
}

// -----

// A range that the caller does not prove stays a check: it becomes the range of a fresh symbol.
// CHECK-LABEL: relax.func @range(
// CHECK-SAME:    relax.symbols = {k = #relax.range<1, 8>}
// CHECK:         %[[C:.*]] = relax.match_cast %{{.*}} -> tensor<?xf32, #relax.shape<[k]>>
// CHECK:         %[[E:.*]] = relax.exp %[[C]]
// CHECK:         relax.match_cast %[[E]] {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
relax.func @range(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.call @bounded(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
// CHECK-LABEL: relax.func @proved_range(
// CHECK-NOT:     relax.match_cast
relax.func @proved_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @bounded(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func private @bounded(%x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> attributes {relax.symbols = {k = #relax.range<1, 8>}} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[k]>>
}

// -----

// Parameters may use symbols that later ones define.
// CHECK-LABEL: relax.func @order(
// CHECK-DAG:     relax.match_cast %arg0 {{.*}} -> tensor<?x?xf32, #relax.shape<[j, ?]>>
// CHECK-DAG:     relax.match_cast %arg1 {{.*}} -> tensor<?x?xf32, #relax.shape<[k, ?]>>
// CHECK:         relax.match_cast {{.*}} -> tensor<?x?xf32, #relax.shape<[j, k + 1]>>
// CHECK:         relax.match_cast {{.*}} -> tensor<?x?xf32, #relax.shape<[k, j + 1]>>
relax.func @order(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0:2 = relax.call @cross(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  relax.return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xf32>
}
relax.func private @cross(%x: tensor<?x?xf32, #relax.shape<[j, k + 1]>>, %y: tensor<?x?xf32, #relax.shape<[k, j + 1]>>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  relax.return %x, %y : tensor<?x?xf32, #relax.shape<[j, k + 1]>>, tensor<?x?xf32, #relax.shape<[k, j + 1]>>
}

// -----

// Integers carry symbols: known values are bound, unknown ones define symbols.
// CHECK-LABEL: relax.func @integers(
// CHECK:         relax.shape [7]
// CHECK:         %[[S:.*]] = relax.make_shape %arg0
// CHECK:         relax.match_cast %[[S]] : {{.*}} -> !relax.shape<[k]>
// CHECK:         relax.shape [k]
relax.func @integers(%i: index) -> (!relax.shape<1>, !relax.shape<1>) {
  %0 = relax.sym 7 : index
  %1 = relax.call @shape(%0) : (index) -> !relax.shape<[7]>
  %2 = relax.call @shape(%i) : (index) -> !relax.shape<1>
  relax.return %1, %2 : !relax.shape<[7]>, !relax.shape<1>
}
relax.func private @shape(%k: index {relax.symbol = "k"}) -> !relax.shape<[k]> {
  %0 = relax.shape [k] : !relax.shape<[k]>
  relax.return %0 : !relax.shape<[k]>
}

// -----

// Callees are inlined first, including control flow; recursive calls stay.
// CHECK-LABEL: relax.func @main(
// CHECK-NOT:     relax.call @a
// CHECK:         relax.if
// CHECK:           relax.exp
// CHECK:         relax.call @loop
relax.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @a(%c, %x) : (i1, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @loop(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}
relax.func private @a(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    %1 = relax.call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
relax.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func private @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// Calls of public functions and declarations stay.
// CHECK-LABEL: relax.func @caller(
// CHECK:         relax.call @public
// CHECK:         relax.call @declaration
relax.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @public(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @declaration(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}
relax.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  relax.return %x : tensor<4xf32>
}
relax.func private @declaration(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

// Only straight-line code is inlined into a dataflow block.
// CHECK-LABEL: relax.func @into_dataflow(
// CHECK-NEXT:    relax.dataflow
// CHECK-NEXT:      relax.exp
// CHECK-NEXT:      relax.call pure @branches
// UPSTREAM-LABEL: relax.func @into_dataflow(
relax.func @into_dataflow(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.call pure @straight(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = relax.call pure @branches(%c, %1) : (i1, tensor<4xf32>) -> tensor<4xf32>
    relax.output %2 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
relax.func private @straight(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func private @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
