// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// Tensors, shapes, tuples and integers define symbols; expressions use them.
// CHECK-LABEL: relax.func @parameters(
// CHECK-SAME:    %{{.*}}: tensor<?x?xf32, #relax.shape<[a, a + b]>>
// CHECK-SAME:    %{{.*}}: !relax.shape<[b]>
// CHECK-SAME:    %{{.*}}: tuple<tensor<?xi64, #relax.shape<[c]>>, !relax.object>
// CHECK-SAME:    %{{.*}}: index {relax.symbol = "d"}
// CHECK-SAME:    %{{.*}}: tensor<?xf32, #relax.shape<[c*d]>>
// CHECK-SAME:    -> (tensor<?xf32, #relax.shape<[c*d]>>, index)
// CHECK-SAME:    attributes {relax.symbols = {a = #relax.range<1, 2048>, d = #relax.range<0, multiple_of = 16>}}
relax.func @parameters(%x: tensor<?x?xf32, #relax.shape<[a, a + b]>>, %s: !relax.shape<[b]>, %t: tuple<tensor<?xi64, #relax.shape<[c]>>, !relax.object>, %d: index {relax.symbol = "d"}, %y: tensor<?xf32, #relax.shape<[c*d]>>) -> (tensor<?xf32, #relax.shape<[c*d]>>, index)
    attributes {relax.symbols = {a = #relax.range<1, 2048>, d = #relax.range<0, *, multiple_of = 16>}} {
  relax.return %y, %d : tensor<?xf32, #relax.shape<[c*d]>>, index
}

// CHECK-LABEL: relax.func private @declaration(tensor<*xf32>) -> tensor<*xf32>
relax.func private @declaration(tensor<*xf32>) -> tensor<*xf32>

// A function may have neither parameters nor results.
// CHECK-LABEL: relax.func @empty() {
// CHECK-NEXT:    relax.return
relax.func @empty() {
  relax.return
}

// A returned value may have a finer type than the signature.
// CHECK-LABEL: relax.func @coarse(
relax.func @coarse(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32>, tensor<*xf32>, !relax.object) {
  relax.return %x, %x, %x : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>
}

// The symbols of the callee are separate: n and m are swapped.
// CHECK-LABEL: relax.func @call(
relax.func @call(%x: tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>> {
  // CHECK: relax.call @swap(%{{.*}}) : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  %0 = relax.call @swap(%x) : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  relax.return %0 : tensor<?x?xf32, #relax.shape<[n, m]>>
}
relax.func private @swap(tensor<?x?xf32, #relax.shape<[n, m]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>

// Equations are solved: 2*n = 14, n + 1 = m; unknown dimensions are checked at run time.
// CHECK-LABEL: relax.func @solve(
relax.func @solve(%x: tensor<14xf32>, %y: tensor<?xf32, #relax.shape<[m]>>, %z: tensor<?xf32>, %s: !relax.shape<1>) {
  // CHECK: relax.call @half({{.*}} -> tensor<7xf32>
  %0 = relax.call @half(%x, %s) : (tensor<14xf32>, !relax.shape<1>) -> tensor<7xf32>
  // CHECK: relax.call @less({{.*}} -> tensor<?xf32, #relax.shape<[m - 1]>>
  %1 = relax.call @less(%y, %s) : (tensor<?xf32, #relax.shape<[m]>>, !relax.shape<1>) -> tensor<?xf32, #relax.shape<[m - 1]>>
  // CHECK: relax.call @half({{.*}} -> tensor<?xf32>
  %2 = relax.call @half(%z, %s) : (tensor<?xf32>, !relax.shape<1>) -> tensor<?xf32>
  relax.return
}
relax.func private @half(tensor<?xf32, #relax.shape<[2*n]>>, !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[n]>>
relax.func private @less(tensor<?xf32, #relax.shape<[n + 1]>>, !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[n]>>

// CHECK-LABEL: relax.func @closures(
relax.func @closures(%w: tensor<4xf32>, %x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32> {
  // CHECK: %[[F:.*]] = relax.make_closure @scale(%{{.*}}) : (tensor<4xf32>) -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>)
  %f = relax.make_closure @scale(%w) : (tensor<4xf32>) -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>)
  // CHECK: relax.call_closure %[[F]](%{{.*}}) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> calls (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  %0 = relax.call_closure %f(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> calls (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
  // A function reference may have a coarser result type than the function.
  // CHECK: relax.make_closure @scale() : () -> ((tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>)
  %g = relax.make_closure @scale() : () -> ((tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>)
  relax.return %0 : tensor<?xf32, #relax.shape<[k]>>
}
relax.func private @scale(tensor<4xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>

// A pure function may be called from a dataflow block.
// CHECK: relax.func private @pure_callee({{.*}}) -> tensor<4xf32> attributes {pure}
relax.func private @pure_callee(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relax.func @call_in_dataflow
// CHECK: relax.call pure @pure_callee(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
relax.func @call_in_dataflow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.call pure @pure_callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
