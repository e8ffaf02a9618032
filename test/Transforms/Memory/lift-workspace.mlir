// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -allow-unregistered-dialect -relax-lift-workspace | FileCheck %s

// An allocation becomes an additional destination, before the integers; each call provides it, with the size expressed
// in its own symbols. A constant size needs no expression.
// CHECK-LABEL: relax.func @calls(
// CHECK:         %[[S:.*]] = relax.alloc_storage 12*n align 64
// CHECK-NEXT:    %[[W:.*]] = relax.tensor_from_storage %[[S]] at 0 : !relax.storage -> tensor<?xi8, #relax.shape<[12*n]>>
// CHECK-NEXT:    %[[A:.*]]:2 = relax.call_tir_inplace @k(%{{.*}}, %{{.*}}, %[[W]]) inplace [1, 2] sym [3] {note = 1 : i64} :
// CHECK:         relax.alloc_storage 320 align 64
// CHECK-NEXT:    %[[V:.*]] = relax.tensor_from_storage %{{.*}} at 0 : !relax.storage -> tensor<320xi8>
// CHECK-NEXT:    relax.call_tir_inplace @k(%{{.*}}, %{{.*}}, %[[V]]) inplace [1, 2] sym [10]
// CHECK:         relax.return %[[A]]#0
relax.func @calls(%x: tensor<?xf32, #relax.shape<[n]>>, %d: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<8xf32>,
                  %e: tensor<8xf32>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.call_tir_inplace @k(%x, %d) inplace [1] sym [3] {note = 1 : i64} : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_tir_inplace @k(%y, %e) inplace [1] sym [10] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// Calls may also be in other functions, in branches and loops, and in recursive functions.
// CHECK-LABEL: relax.func private @control(
// CHECK:         relax.if
// CHECK:           relax.alloc_storage 4*k*p align 64
// CHECK:           relax.call_tir_inplace @k({{.*}}) inplace [1, 2] sym [k]
// CHECK:         relax.while
// CHECK:           relax.condition
// CHECK:           relax.alloc_storage 4*p align 64
// CHECK:           relax.call_tir_inplace @k({{.*}}) inplace [1, 2] sym [1]
relax.func private @control(%c: i1, %k: index {relax.symbol = "k"}, %x: tensor<?xf32, #relax.shape<[p]>>, %d: tensor<?xf32, #relax.shape<[p]>>) {
  relax.if %c : i1 {
    %0 = relax.call_tir_inplace @k(%x, %d) inplace [1] sym [k] : (tensor<?xf32, #relax.shape<[p]>>, tensor<?xf32, #relax.shape<[p]>>) -> tensor<?xf32, #relax.shape<[p]>>
    relax.call @control(%c, %k, %x, %d) : (i1, index, tensor<?xf32, #relax.shape<[p]>>, tensor<?xf32, #relax.shape<[p]>>) -> ()
    relax.yield
  } else {
    relax.yield
  }
  %1 = relax.while %x : (tensor<?xf32, #relax.shape<[p]>>) -> tensor<?xf32, #relax.shape<[p]>> {
  ^bb0(%y: tensor<?xf32, #relax.shape<[p]>>):
    relax.condition %c : i1
  } do {
  ^bb0(%y: tensor<?xf32, #relax.shape<[p]>>):
    %0 = relax.call_tir_inplace @k(%y, %d) inplace [1] sym [1] : (tensor<?xf32, #relax.shape<[p]>>, tensor<?xf32, #relax.shape<[p]>>) -> tensor<?xf32, #relax.shape<[p]>>
    relax.yield %y : tensor<?xf32, #relax.shape<[p]>>
  }
  relax.return
}

// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %{{.*}}: memref<?xf32> {relax.shape = #relax.shape<[m]>},
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: memref<?xi8> {relax.shape = #relax.shape<[4*m*r]>}, %[[R:.*]]: index {relax.symbol = "r"}) {
// CHECK:         %[[T:.*]] = memref.view %[[WS]][%{{.*}}][%[[R]], %{{.*}}] : memref<?xi8> to memref<?x?xf32>
// CHECK-NEXT:    "use"(%[[T]])
// CHECK-NEXT:    return
func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %d: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %r: index {relax.symbol = "r"}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%r, %m) : memref<?x?xf32>
  "use"(%t) : (memref<?x?xf32>) -> ()
  memref.dealloc %t : memref<?x?xf32>
  return
}

// -----

// Of three temporaries, the first and the last are never live at the same time, whatever the order of the allocations;
// each begins at a multiple of 64.
// CHECK-LABEL: relax.func @shares(
// CHECK:         relax.alloc_storage 2*n + 64*((n + 15) floordiv 16) align 64
// CHECK-LABEL: func.func private @three(
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: memref<?xi8> {relax.shape = #relax.shape<[2*m + 64*((m + 15) floordiv 16)]>})
// CHECK-DAG:     %[[A:.*]] = memref.view %[[WS]][%[[ZERO:.*]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK-DAG:     %[[C:.*]] = memref.view %[[WS]][%[[ZERO]]][%{{.*}}] : memref<?xi8> to memref<?xi32>
// CHECK-DAG:     %[[B:.*]] = memref.view %[[WS]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf16>
// CHECK:         "use"(%[[A]], %[[B]])
// CHECK-NEXT:    "use"(%[[B]], %[[C]])
relax.func @shares(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @three(%x) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}
func.func private @three(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%m) {alignment = 64 : i64} : memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf16>
  %c = memref.alloc(%m) : memref<?xi32>
  "use"(%a, %b) : (memref<?xf32>, memref<?xf16>) -> ()
  memref.dealloc %a : memref<?xf32>
  "use"(%b, %c) : (memref<?xf16>, memref<?xi32>) -> ()
  memref.dealloc %b : memref<?xf16>
  memref.dealloc %c : memref<?xi32>
  return
}

// -----

// Temporaries of constant size are in an arena before the others; a Boolean
// takes a byte.
// CHECK-LABEL: func.func private @constants(
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: memref<?xi8> {relax.shape = #relax.shape<[m + 128]>})
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : index
// CHECK:         memref.view %[[WS]][%[[C64]]][] : memref<?xi8> to memref<3xf64>
// CHECK:         memref.view %[[WS]][%[[C0]]][] : memref<?xi8> to memref<33xi1>
// CHECK:         memref.view %[[WS]][%[[C128]]][%{{.*}}] : memref<?xi8> to memref<?xi8>
relax.func @arena(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @constants(%x) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}
func.func private @constants(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc() : memref<3xf64>
  %b = memref.alloc() : memref<33xi1>
  %c = memref.alloc(%m) : memref<?xi8>
  "use"(%a, %b, %c) : (memref<3xf64>, memref<33xi1>, memref<?xi8>) -> ()
  memref.dealloc %a : memref<3xf64>
  memref.dealloc %b : memref<33xi1>
  memref.dealloc %c : memref<?xi8>
  return
}

// -----

// Sizes are recovered from index arithmetic. An allocation in each iteration of a loop becomes one allocation.
// CHECK-LABEL: func.func private @arithmetic(
// CHECK-SAME:    relax.shape = #relax.shape<[4*(m floordiv 16)*min(m, 16) + 4*min(m, 16)]>
// CHECK:         scf.for
// CHECK-NEXT:      arith.divui
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      memref.view %{{.*}}[%[[C0:.*]]][%{{.*}}, %{{.*}}]
relax.func @sizes(%x: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @arithmetic(%x) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_tir_inplace @branch(%x) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}
func.func private @arithmetic(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %few = affine.min affine_map<(d0) -> (d0, 16)>(%m)
  scf.for %i = %c0 to %m step %c1 {
    %quotient = arith.divui %m, %c16 : index
    %blocks = arith.addi %quotient, %c1 : index
    %t = memref.alloc(%few, %blocks) : memref<?x?xf32>
    %n = memref.dim %t, %c0 : memref<?x?xf32>
    "use"(%t, %n) : (memref<?x?xf32>, index) -> ()
    memref.dealloc %t : memref<?x?xf32>
  }
  return
}

// The size of an allocation in a branch that is not taken may be negative.
// CHECK-LABEL: func.func private @branch(
// CHECK-SAME:    relax.shape = #relax.shape<[max(m - 8, 0)]>
func.func private @branch(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %many = arith.cmpi sgt, %m, %c8 : index
  scf.if %many {
    %rest = arith.subi %m, %c8 : index
    %t = memref.alloc(%rest) : memref<?xi8>
    "use"(%t) : (memref<?xi8>) -> ()
    memref.dealloc %t : memref<?xi8>
  }
  return
}

// -----

// These allocations stay: sizes that only the kernel computes, memory of an iteration of a parallel loop, and memory
// that is not freed in the block that allocates it.
// CHECK-LABEL: relax.func @left(
// CHECK-NOT:     alloc_storage
// CHECK-LABEL: func.func private @inside(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xi64> {relax.shape = #relax.shape<[m]>}) {
// CHECK-COUNT-4: memref.alloc
relax.func @left(%x: tensor<?xi64, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @inside(%x) inplace [0] : (tensor<?xi64, #relax.shape<[n]>>) -> tensor<?xi64, #relax.shape<[n]>>
  relax.return
}
func.func private @inside(%x: memref<?xi64> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xi64>
  %element = memref.load %x[%c0] : memref<?xi64>
  %found = arith.index_cast %element : i64 to index
  %a = memref.alloc(%found) : memref<?xf32>
  "use"(%a) : (memref<?xf32>) -> ()
  memref.dealloc %a : memref<?xf32>
  scf.forall (%i) in (%m) {
    %b = memref.alloc(%m) : memref<?xf32>
    "use"(%b) : (memref<?xf32>) -> ()
    memref.dealloc %b : memref<?xf32>
  }
  %c = memref.alloc(%m) : memref<?xf32>
  %true = arith.constant true
  scf.if %true {
    memref.dealloc %c : memref<?xf32>
  }
  %d = memref.alloc(%m) : memref<?xf32>
  "keep"(%d) : (memref<?xf32>) -> ()
  return
}

// -----

// A kernel keeps its allocation if one of its callers does not know the size, has no destination yet, or is not a graph
// function, or if nothing calls the kernel.
// CHECK-LABEL: relax.func @callers(
// CHECK-NOT:     alloc_storage
// CHECK-COUNT-4: memref.alloc(
relax.func @callers(%x: tensor<?xf32>, %y: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @unknown(%x) inplace [0] : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relax.call_tir_inplace @unknown(%y) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.call_tir_inplace @allocates() inplace [-1] sym [n] : () -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.call_tir_inplace @called(%y) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}
func.func private @unknown(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
func.func private @allocates(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %m: index {relax.symbol = "m"}) {
  %t = memref.alloc(%m) : memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
func.func private @called(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
func.func private @uncalled(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  func.call @called(%x) : (memref<?xf32>) -> ()
  return
}

// -----

// A symbol that callers solve for has no value in the kernel. One temporary can still be lifted, but the kernel cannot
// compute the offset of a second one.
// CHECK-LABEL: relax.func @solves(
// CHECK:         relax.alloc_storage 8*n align 64
// CHECK-NOT:     relax.alloc_storage
// CHECK-LABEL: func.func private @one(
// CHECK-SAME:    relax.shape = #relax.shape<[8*m]>
// CHECK-LABEL: func.func private @two(
// CHECK-COUNT-2: memref.alloc(
relax.func @solves(%x: tensor<?xf32, #relax.shape<[2*n]>>, %y: tensor<?xf32, #relax.shape<[n]>>) {
  %0 = relax.call_tir_inplace @one(%x) inplace [0] : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
  %1 = relax.call_tir_inplace @two(%x) inplace [0] : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
  relax.return
}
func.func private @one(%x: memref<?xf32> {relax.shape = #relax.shape<[2*m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  "use"(%t) : (memref<?xf32>) -> ()
  memref.dealloc %t : memref<?xf32>
  return
}
func.func private @two(%x: memref<?xf32> {relax.shape = #relax.shape<[2*m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.alloc(%m) : memref<?xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  "use"(%s, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.dealloc %s : memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}

// -----

// If the caller already has kills, the workspace gets kills, too.
// CHECK-LABEL: relax.func @killed(
// CHECK:         %[[S:.*]] = relax.alloc_storage 64*n align 64
// CHECK:         relax.call_tir_inplace
// CHECK-NEXT:    relax.kill %{{.*}} : !relax.storage
// CHECK-NEXT:    relax.kill %[[S]] : !relax.storage
relax.func @killed(%n: index {relax.symbol = "n"}) {
  %s = relax.alloc_storage 4*n align 64 : !relax.storage
  %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.call_tir_inplace @k(%d) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.kill %s : !relax.storage
  relax.return
}
func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%m) : memref<?x16xf32>
  "use"(%t) : (memref<?x16xf32>) -> ()
  memref.dealloc %t : memref<?x16xf32>
  return
}
