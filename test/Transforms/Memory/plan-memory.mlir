// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-each -relax-lower-call-tir -relax-plan-memory | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-lower-call-tir -relax-plan-memory -relax-plan-memory | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-lower-call-tir -relax-insert-kills -relax-plan-memory -verify-each | FileCheck %s --check-prefix=KILLS

// Storages of equal symbolic sizes share memory; the returned tensor has its
// own storage.
// CHECK-LABEL: relax.func @chain(
// CHECK-SAME:    relax.memory_plan = {peak_bytes = #relax.expr<8*n>, planned_bytes = #relax.expr<12*n>, planned_storages = 3 : i64, unplanned_bytes = #relax.expr<16*n>, unplanned_storages = 4 : i64}
// CHECK-NEXT:    %[[S0:.*]] = relax.alloc_storage 4*n
// CHECK:         %[[S1:.*]] = relax.alloc_storage 4*n
// CHECK:         relax.tensor_from_storage %[[S0]] at 0
// CHECK:         %[[S3:.*]] = relax.alloc_storage 4*n
// CHECK:         relax.return
// KILLS-LABEL: relax.func @chain(
// KILLS:         %[[S0:.*]] = relax.alloc_storage
// KILLS:         %[[S1:.*]] = relax.alloc_storage
// KILLS:         relax.call_tir_inplace
// KILLS-NEXT:    %[[D2:.*]] = relax.tensor_from_storage %[[S0]]
// KILLS-NEXT:    relax.call_tir_inplace
// KILLS-NEXT:    relax.kill %[[S1]]
// KILLS-NEXT:    %[[S3:.*]] = relax.alloc_storage
// KILLS:         relax.call_tir_inplace
// KILLS-NEXT:    relax.kill %[[S0]]
// KILLS-NEXT:    relax.kill %[[S3]]
// KILLS-NEXT:    relax.return
relax.func @chain(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.call_tir @k(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_tir @k(%0) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.call_tir @k(%1) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.call_tir @k(%2) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %3 : tensor<?xf32, #relax.shape<[n]>>
}
func.func private @k(tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> tensor<?xf32>

// -----

// Different shapes share memory if they provably have the same number of bytes;
// a provably smaller tensor reuses a larger storage.
// CHECK-LABEL: relax.func @proved(
// CHECK:         %[[S:.*]] = relax.alloc_storage 16*n
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?x4xf32,
// CHECK:         relax.call_library_inplace "consume"
// CHECK-NOT:     relax.alloc_storage
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<2x?xf32,
// CHECK:         relax.call_library_inplace "consume"
// CHECK-NOT:     relax.alloc_storage
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xi8,
relax.func @proved(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_library "make"() {relax.borrows} : () -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> ()
  %1 = relax.call_library "make"() {relax.borrows} : () -> tensor<2x?xf32, #relax.shape<[2, 2*n]>>
  relax.call_library "consume"(%1) {relax.borrows} : (tensor<2x?xf32, #relax.shape<[2, 2*n]>>) -> ()
  %2 = relax.call_library "make"() {relax.borrows} : () -> tensor<?xi8, #relax.shape<[n]>>
  relax.call_library "consume"(%2) {relax.borrows} : (tensor<?xi8, #relax.shape<[n]>>) -> ()
  relax.return
}

// -----

// A cast is an alias: its storage is not reused while the cast is live (the
// defect of apache/tvm#20190).
// CHECK-LABEL: relax.func @alias(
// CHECK:         %[[A:.*]] = relax.alloc_storage 4*n
// CHECK:         %[[B:.*]] = relax.match_cast
// CHECK:         %[[C:.*]] = relax.alloc_storage 4*n
// CHECK:         relax.alloc_storage 4*n
// CHECK:         relax.return
relax.func @alias(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %a = relax.call_tir @k(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %b = relax.match_cast %a : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %c = relax.call_tir @k(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %d = relax.call_tir @add(%b, %c) : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %d : tensor<?xf32, #relax.shape<[n]>>
}
func.func private @k(tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> tensor<?xf32>
func.func private @add(tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[a]>}, tensor<?xf32> {relax.shape = #relax.shape<[a]>}) -> tensor<?xf32>

// -----

// A reshape is an alias, too (apache/tvm PR#20134), also through a tuple.
// CHECK-LABEL: relax.func @view(
// CHECK:         %[[A:.*]] = relax.alloc_storage 144 align 64
// CHECK:         relax.tensor_from_storage %[[A]] at 0
// CHECK:         relax.reshape
// CHECK:         relax.tensor_from_storage %[[A]] at 64
// CHECK:         relax.tensor_from_storage %[[A]] at 128
relax.func @view(%x: tensor<4xf32>) {
  %0 = relax.call_library "make"() {relax.borrows} : () -> tensor<4xf32>
  %1 = relax.reshape %0 to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = relax.tuple %1 : (tensor<2x2xf32>) -> tuple<tensor<2x2xf32>>
  %3 = relax.call_library "make"() {relax.borrows} : () -> tensor<4xf32>
  %4 = relax.get %2[0] : (tuple<tensor<2x2xf32>>) -> tensor<2x2xf32>
  %5 = relax.call_library "add"(%4, %3) {relax.borrows} : (tensor<2x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.call_library "consume"(%5) {relax.borrows} : (tensor<4xf32>) -> ()
  relax.return
}

// -----

// With bounds, the plan is static, and the largest storages get their offsets
// first. Without the option, sizes are exact.
// CHECK-LABEL: relax.func @bounded(
// CHECK-SAME:    planned_bytes = #relax.expr<4*n + 12288>
// CHECK-NEXT:    %[[S:.*]] = relax.alloc_storage 12288 align 64
// CHECK:         relax.tensor_from_storage %[[S]] at 8192 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[2*n]>>
// CHECK:         relax.tensor_from_storage %[[S]] at 8192 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
// CHECK:         %[[R:.*]] = relax.alloc_storage 4*n
relax.func @bounded(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    attributes {relax.symbols = {n = #relax.range<1, 1024>}} {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_library "f"(%0) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
  %2 = relax.call_library "f"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.call_library "f"(%2) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %3 : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// One dimension is bounded (apache/tvm PR#16466): both tensors share a storage
// of 20*n elements.
// CHECK-LABEL: relax.func @partial(
// CHECK:         %[[S:.*]] = relax.alloc_storage 80*n
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?x?xf32, #relax.shape<[m, n]>>
// CHECK-NOT:     relax.alloc_storage
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?x?xf32, #relax.shape<[n, k]>>
relax.func @partial(%x: tensor<?x?xf32, #relax.shape<[m, n]>>, %y: tensor<?xf32>)
    attributes {relax.symbols = {m = #relax.range<1, 20>, k = #relax.range<0, 20>}} {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> ()
  %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
  %2 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[n, k]>>
  relax.call_library "consume"(%2) {relax.borrows} : (tensor<?x?xf32, #relax.shape<[n, k]>>) -> ()
  relax.return
}

// -----

// If two sizes cannot be compared, one storage has their maximum. A size whose
// symbols are not defined at the first use cannot take part.
// CHECK-LABEL: relax.func @maximum(
// CHECK:         %[[S:.*]] = relax.alloc_storage max(4*m, 4*n)
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
// CHECK:         relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[m]>>
// CHECK:         relax.match_cast
// CHECK:         relax.alloc_storage 4*k
relax.func @maximum(%x: tensor<?x?xf32, #relax.shape<[m, n]>>, %y: tensor<?xf32>) {
  %0 = relax.call_library "make"() {relax.borrows} : () -> tensor<?xf32, #relax.shape<[n]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> ()
  %1 = relax.call_library "make"() {relax.borrows} : () -> tensor<?xf32, #relax.shape<[m]>>
  relax.call_library "consume"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[m]>>) -> ()
  %2 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
  %3 = relax.call_library "make"() {relax.borrows} : () -> tensor<?xf32, #relax.shape<[k]>>
  relax.call_library "consume"(%3) {relax.borrows} : (tensor<?xf32, #relax.shape<[k]>>) -> ()
  relax.return
}

// -----

// The branches share a storage for their intermediate values. Yielded values
// (the case of apache/tvm#17348), and a value that is live in both branches,
// have their own storages.
// CHECK-LABEL: relax.func @branches(
// CHECK:         %[[A:.*]] = relax.alloc_storage 4*n
// CHECK:         %[[S:.*]] = relax.alloc_storage 4*n
// CHECK-NEXT:    relax.if
// CHECK-NEXT:      relax.tensor_from_storage %[[S]] at 0
// CHECK:           relax.alloc_storage 4*n
// CHECK:         } else {
// CHECK-NEXT:      relax.tensor_from_storage %[[S]] at 0
// CHECK:           relax.alloc_storage 4*n
// CHECK:         }
relax.func @branches(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %a = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.if %c : i1 -> tensor<?xf32, #relax.shape<[n]>> {
    %1 = relax.call_library "f"(%a) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    %2 = relax.call_library "f"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    relax.yield %2 : tensor<?xf32, #relax.shape<[n]>>
  } else {
    %1 = relax.call_library "f"(%a) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    %2 = relax.call_library "f"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    relax.yield %2 : tensor<?xf32, #relax.shape<[n]>>
  }
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// A storage in a loop is allocated before the loop if its size is known there. Values from outside stay live throughout
// the loop, and yielded values are allocated in each iteration.
// CHECK-LABEL: relax.func @loop(
// CHECK:         %[[A:.*]] = relax.alloc_storage 4*n
// CHECK:         %[[S:.*]] = relax.alloc_storage 4*n
// CHECK-NEXT:    relax.while
// CHECK:         } do {
// CHECK:           relax.tensor_from_storage %[[S]] at 0
// CHECK:           relax.match_cast
// CHECK:           relax.alloc_storage 4*k
// CHECK:           relax.alloc_storage 4*n
// CHECK:           relax.yield
relax.func @loop(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>> {
  %a = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.while %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  ^bb0(%e: tensor<?xf32, #relax.shape<[n]>>):
    relax.condition %c : i1
  } do {
  ^bb0(%e: tensor<?xf32, #relax.shape<[n]>>):
    %1 = relax.call_library "f"(%e, %a) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    %2 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
    %3 = relax.call_library "f"(%2) {relax.borrows} : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
    %4 = relax.call_library "f"(%1, %3) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[n]>>
    relax.yield %4 : tensor<?xf32, #relax.shape<[n]>>
  }
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// An argument of a call that returns something may be its result.
// CHECK-LABEL: relax.func @passed(
// CHECK-COUNT-2: relax.alloc_storage 16
relax.func @passed(%x: tensor<4xf32>) {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @id(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.call_library "f"(%x) {relax.borrows} : (tensor<4xf32>) -> tensor<4xf32>
  relax.call_library "consume"(%1, %2) {relax.borrows} : (tensor<4xf32>, tensor<4xf32>) -> ()
  relax.return
}
relax.func private @id(tensor<4xf32>) -> tensor<4xf32>

// -----

// A small tensor does not occupy a storage that a large tensor needs at the same time: large tensors are placed first.
// CHECK-LABEL: relax.func @large_first(
// CHECK-SAME:    planned_bytes = #relax.expr<20*n>
// CHECK-NEXT:    %[[LARGE:.*]] = relax.alloc_storage 16*n
// CHECK-NEXT:    relax.tensor_from_storage %[[LARGE]]
// CHECK:         %[[SMALL:.*]] = relax.alloc_storage 4*n
// CHECK-NEXT:    relax.tensor_from_storage %[[SMALL]]
// CHECK:         relax.tensor_from_storage %[[LARGE]]
relax.func @large_first(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?xf32, #relax.shape<[4*n]>>) -> ()
  %1 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.call_library "f"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  relax.call_library "consume"(%1, %2) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[4*n]>>) -> ()
  relax.return
}

// -----

// The first of two storages may be the smaller one; the shared storage is
// allocated at its position.
// CHECK-LABEL: relax.func @small_before(
// CHECK-SAME:    planned_bytes = #relax.expr<16*n>
// CHECK-NEXT:    %[[S:.*]] = relax.alloc_storage 16*n
// CHECK-NEXT:    relax.tensor_from_storage %[[S]]
// CHECK:         relax.if
// CHECK:         relax.tensor_from_storage %[[S]]
relax.func @small_before(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> ()
  relax.if %c : i1 {
    %1 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
    relax.call_library "consume"(%1) {relax.borrows} : (tensor<?xf32, #relax.shape<[4*n]>>) -> ()
    relax.yield
  } else {
    relax.yield
  }
  relax.return
}

// -----

// The arena of constant sizes shares memory with the largest storage that is
// dead by then.
// CHECK-LABEL: relax.func @arena_shares(
// CHECK-SAME:    planned_bytes = #relax.expr<4*n + max(1024*n, 4096)>
// CHECK-NEXT:    %[[S:.*]] = relax.alloc_storage max(1024*n, 4096)
// CHECK:         relax.tensor_from_storage %[[S]] at 0 {{.*}} -> tensor<?xf32, #relax.shape<[256*n]>>
// CHECK:         relax.tensor_from_storage %[[S]] at 0 {{.*}} -> tensor<1024xf32>
relax.func @arena_shares(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[256*n]>>
  relax.call_library "consume"(%0, %1) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[256*n]>>) -> ()
  %2 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<1024xf32>
  relax.call_library "consume"(%2) {relax.borrows} : (tensor<1024xf32>) -> ()
  relax.return
}
