// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The running examples of the paper (arXiv 2311.02103, section 3).
// RUN: relax-opt %s -relax-deduce-shapes | FileCheck %s
// RUN: relax-opt %s -relax-deduce-shapes -relax-simplify -emit-bytecode | relax-opt | FileCheck %s --check-prefix=SIMPLE
// RUN: relax-opt %s -relax-deduce-shapes -relax-bind-symbols='symbols=n=6' | FileCheck %s --check-prefix=BOUND

// Shapes are tracked through reshape and flatten; the length of unique's result depends on the data, and match_cast
// names it.
// CHECK-LABEL: relax.func @symbolic_shape_fn(
// CHECK-SAME:    %[[X:.*]]: tensor<?x2x2xf32, #relax.shape<[n, 2, 2]>>) -> tensor<?xf32> {
// CHECK-NEXT:    relax.dataflow -> tensor<?xf32, #relax.shape<[m]>> {
// CHECK-NEXT:      %[[S:.*]] = relax.shape [n, 4] : !relax.shape<[n, 4]>
// CHECK-NEXT:      %[[R:.*]] = relax.reshape %[[X]], %[[S]] : {{.*}} -> tensor<?x4xf32, #relax.shape<[n, 4]>>
// CHECK-NEXT:      %[[F:.*]] = relax.flatten %[[R]] : {{.*}} -> tensor<?xf32, #relax.shape<[4*n]>>
// CHECK-NEXT:      %[[U:.*]] = relax.unique %[[F]] : {{.*}} -> tensor<?xf32>
// CHECK-NEXT:      %[[M:.*]] = relax.match_cast %[[U]] : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
// CHECK-NEXT:      relax.exp %[[M]] : {{.*}} -> tensor<?xf32, #relax.shape<[m]>>

// SIMPLE-LABEL: relax.func @symbolic_shape_fn(
// SIMPLE:         relax.match_cast

// BOUND-LABEL: relax.func @symbolic_shape_fn(
// BOUND-SAME:    tensor<6x2x2xf32>) -> tensor<?xf32>
// BOUND:         relax.flatten {{.*}} -> tensor<24xf32>
// BOUND:         relax.match_cast {{.*}} -> tensor<?xf32, #relax.shape<[m]>>
relax.func @symbolic_shape_fn(%x: tensor<?x2x2xf32, #relax.shape<[n, 2, 2]>>) -> tensor<*xf32> {
  %gv = relax.dataflow -> tensor<*xf32> {
    %s = relax.shape [n, 4] : !relax.shape<[n, 4]>
    %lv0 = relax.reshape %x, %s : (tensor<?x2x2xf32, #relax.shape<[n, 2, 2]>>, !relax.shape<[n, 4]>) -> tensor<*xf32>
    %lv1 = relax.flatten %lv0 : (tensor<*xf32>) -> tensor<?xf32>
    %lv2 = relax.unique %lv1 : (tensor<?xf32>) -> tensor<?xf32>
    %lv3 = relax.match_cast %lv2 : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %lv4 = relax.exp %lv3 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32>
    relax.output %lv4 : tensor<?xf32>
  }
  relax.return %gv : tensor<*xf32>
}

// Symbols cross function boundaries through signatures: 2*n is solved for n.
// CHECK-LABEL: relax.func @main(
// CHECK-SAME:    -> (tensor<?xf32, #relax.shape<[k]>>, tensor<?xf32, #relax.shape<[3*k]>>, tensor<?xf32>)
// CHECK:         relax.call @half({{.*}} -> tensor<?xf32, #relax.shape<[k]>>
// CHECK:         relax.call @product({{.*}} -> tensor<?xf32, #relax.shape<[3*k]>>
// CHECK:         relax.call @half({{.*}} -> tensor<?xf32>

// After inlining, the callee's symbols are replaced by the caller's.
// SIMPLE-LABEL: relax.func @main(
// SIMPLE-NOT:     relax.call @product
relax.func @main(%x: tensor<?xf32, #relax.shape<[2*k]>>, %s: !relax.shape<[k]>, %u: tensor<?xf32>, %v: !relax.shape<1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = relax.call @half(%x, %s) : (tensor<?xf32, #relax.shape<[2*k]>>, !relax.shape<[k]>) -> tensor<*xf32>
  %t = relax.shape [k, 3] : !relax.shape<[k, 3]>
  %1 = relax.call @product(%t) : (!relax.shape<[k, 3]>) -> tensor<*xf32>
  %2 = relax.call @half(%u, %v) : (tensor<?xf32>, !relax.shape<1>) -> tensor<*xf32>
  relax.return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
relax.func private @half(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.call_library "first_half"(%x) sym [n] : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
relax.func private @product(%s: !relax.shape<[n, m]>) -> tensor<?xf32, #relax.shape<[n*m]>> {
  %0 = relax.call_library "iota"() sym [n*m] : () -> tensor<?xf32, #relax.shape<[n*m]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n*m]>>
}
