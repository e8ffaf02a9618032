// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-simplify-shapes | FileCheck %s

// Bounds decide a minimum; the signature does not change.
// CHECK-LABEL: relax.func @bounds(
// CHECK-SAME:    #relax.shape<[min(n, 4096)]>
// CHECK:         relax.exp {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
// CHECK:         relax.sym n
relax.func @bounds(%s: !relax.shape<[n]>, %x: tensor<?xf32, #relax.shape<[min(n, 4096)]>>) -> (tensor<?xf32, #relax.shape<[min(n, 4096)]>>, index)
    attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[min(n, 4096)]>>) -> tensor<?xf32, #relax.shape<[min(n, 4096)]>>
  %1 = relax.sym min(n, 4096) : index
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[min(n, 4096)]>>, index
}

// Without the bound, the minimum stays.
// CHECK-LABEL: relax.func @no_bounds(
// CHECK:         relax.sym min(n, 4096)
relax.func @no_bounds(%s: !relax.shape<[n]>) -> index {
  %1 = relax.sym min(n, 4096) : index
  relax.return %1 : index
}

// -----

// A symbol whose range has one value is replaced by that value.
// CHECK-LABEL: relax.func @single(
// CHECK-SAME:    %{{.*}}: tensor<?xf32, #relax.shape<[n]>>
// CHECK:         relax.exp {{.*}} -> tensor<7xf32>
// CHECK:         relax.sym 49
relax.func @single(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32>, index)
    attributes {relax.symbols = {n = #relax.range<7, 7>}} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sym n*n : index
  relax.return %0, %1 : tensor<?xf32, #relax.shape<[n]>>, index
}

// -----

// A symbol for a known dimension is replaced by that dimension.
// CHECK-LABEL: relax.func @known(
// CHECK-NOT:     relax.match_cast
// CHECK:         relax.exp {{.*}} -> tensor<?xf32, #relax.shape<[n + 1]>>
// CHECK:         relax.sym 2*n + 2
relax.func @known(%s: !relax.shape<[n]>, %x: tensor<?xf32, #relax.shape<[n + 1]>>) -> (tensor<?xf32>, index) {
  %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n + 1]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %2 = relax.sym 2*m : index
  relax.return %1, %2 : tensor<?xf32, #relax.shape<[m]>>, index
}

// Only the known dimension is simplified; the cast still checks the other.
// CHECK-LABEL: relax.func @partly(
// CHECK:         relax.match_cast {{.*}} -> tensor<?x4x?xf32, #relax.shape<[n, 4, k]>>
// CHECK:         relax.sym k + n
relax.func @partly(%x: tensor<?x?x?xf32, #relax.shape<[n, ?, ?]>>) -> index {
  %0 = relax.match_cast %x : (tensor<?x?x?xf32, #relax.shape<[n, ?, ?]>>) -> tensor<?x4x?xf32, #relax.shape<[m, 4, k]>>
  %1 = relax.sym m + k : index
  relax.return %1 : index
}

// If a cast uses a symbol twice, one dimension is known, and the other is
// checked.
// CHECK-LABEL: relax.func @twice(
// CHECK:         relax.match_cast {{.*}} -> tensor<?x?xf32, #relax.shape<[n, n]>>
// CHECK:         relax.sym n
relax.func @twice(%x: tensor<?x?xf32, #relax.shape<[n, k]>>) -> index {
  %0 = relax.match_cast %x : (tensor<?x?xf32, #relax.shape<[n, k]>>) -> tensor<?x?xf32, #relax.shape<[m, m]>>
  %1 = relax.sym m : index
  relax.return %1 : index
}

// A cast stays if it checks a declared range that is not proved.
// CHECK-LABEL: relax.func @range(
// CHECK-SAME:    m = #relax.range<1, 8>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK:         relax.sym m
relax.func @range(%x: tensor<?xf32, #relax.shape<[n]>>) -> index
    attributes {relax.symbols = {m = #relax.range<1, 8>}} {
  %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.sym m : index
  relax.return %1 : index
}

// A proved cast is removed with its symbol.
// CHECK-LABEL: relax.func @proved_range(
// CHECK-NOT:     m =
// CHECK-NOT:     relax.match_cast
// CHECK:         relax.sym n
relax.func @proved_range(%x: tensor<?xf32, #relax.shape<[n]>>) -> index
    attributes {relax.symbols = {m = #relax.range<1, 8>, n = #relax.range<2, 4>}} {
  %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.sym m : index
  relax.return %1 : index
}

// -----

// Two casts of one value name one dimension.
// CHECK-LABEL: relax.func @again(
// CHECK:         %[[C:.*]] = relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK-NOT:     relax.match_cast
// CHECK:         relax.sym 2*m
// CHECK:         relax.return %[[C]], %[[C]],
relax.func @again(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, index) {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
  %2 = relax.sym m + k : index
  relax.return %0, %1, %2 : tensor<?xf32, #relax.shape<[m]>>, tensor<?xf32, #relax.shape<[k]>>, index
}

// A cast in a branch proves nothing outside; a cast in a dataflow block is not a value there.
// CHECK-LABEL: relax.func @again_elsewhere(
// CHECK:         relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[k]>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[j]>
relax.func @again_elsewhere(%c: i1, %x: tensor<?xf32>) -> index {
  relax.if %c : i1 {
    %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield
  } else {
    relax.yield
  }
  relax.dataflow {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
    relax.output
  }
  %2 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[j]>>
  %3 = relax.sym k + j : index
  relax.return %3 : index
}

// -----

// Casts that check nothing are removed; other casts stay.
// CHECK-LABEL: relax.func @redundant(
// CHECK-NEXT:    %{{.*}} = relax.match_cast %arg0 {{.*}} #relax.shape<[k, 4]>
// CHECK-NEXT:    relax.return %arg0,
relax.func @redundant(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?xf32, #relax.shape<[k]>>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = relax.match_cast %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  %1 = relax.match_cast %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[k, 4]>>
  relax.return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32, #relax.shape<[k, 4]>>
}

// -----

// The symbol of a branch differs from a symbol of the same name elsewhere; a symbol of a dataflow block stays valid
// after the block.
// CHECK-LABEL: relax.func @scopes(
// CHECK:         relax.if
// CHECK-NEXT:      relax.sym n
// CHECK:         } else {
// CHECK-NEXT:      relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK-NEXT:      relax.sym m
// CHECK:         relax.dataflow
// CHECK:         relax.sym n
relax.func @scopes(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32>) -> (index, index) {
  %0 = relax.if %c : i1 -> index {
    %1 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym m : index
    relax.yield %2 : index
  } else {
    %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym m : index
    relax.yield %2 : index
  }
  %3 = relax.dataflow -> tensor<?xf32, #relax.shape<[k]>> {
    %4 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[k]>>
    relax.output %4 : tensor<?xf32, #relax.shape<[k]>>
  }
  %5 = relax.sym k : index
  relax.return %0, %5 : index, index
}

// -----

// An op of another dialect requires equal types of its operands, so their types
// stay.
// CHECK-LABEL: relax.func @foreign(
// CHECK:         relax.match_cast
// CHECK:         arith.addf {{.*}} : tensor<?xf32, #relax.shape<[m]>>
relax.func @foreign(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %1 = arith.addf %0, %0 : tensor<?xf32, #relax.shape<[m]>>
  relax.return %1 : tensor<?xf32, #relax.shape<[m]>>
}

// -----

// The deduction rule of an op without operands does not see ranges, so the op
// keeps the type that the rule deduces; types that depend on it are simplified.
// CHECK-LABEL: relax.func @arange_within_range
// CHECK: %[[I:.*]] = relax.arange 5, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>
// CHECK: relax.negative %[[I]] : (tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>) -> tensor<?xi64, #relax.shape<[n - 5]>>
relax.func @arange_within_range(%s: !relax.shape<[n]>) -> tensor<?xi64>
    attributes {relax.symbols = {n = #relax.range<5>}} {
  %0 = relax.arange 5, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>
  %1 = relax.negative %0 : (tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>) -> tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>
  relax.return %1 : tensor<?xi64, #relax.shape<[max(n - 5, 0)]>>
}

// -----

// The types of parameters stay, so types deduced from them keep their form, and
// so do the types of returned values.
// CHECK-LABEL: relax.func @parameter_keeps_its_form
// CHECK:         relax.strided_slice {{.*}} -> tensor<?xf32, #relax.shape<[max(min(m*n, 5) - 1, 0)]>>
relax.func @parameter_keeps_its_form(%x: tensor<?xf32, #relax.shape<[m*n]>>, %s: !relax.shape<[n, m]>)
    -> tensor<?xf32, #relax.shape<[max(min(m*n, 5) - 1, 0)]>>
    attributes {relax.symbols = {n = #relax.range<2, 2>}} {
  %0 = relax.strided_slice %x axes [0] begin [1] end [5] : (tensor<?xf32, #relax.shape<[m*n]>>) -> tensor<?xf32, #relax.shape<[max(min(m*n, 5) - 1, 0)]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[max(min(m*n, 5) - 1, 0)]>>
}
