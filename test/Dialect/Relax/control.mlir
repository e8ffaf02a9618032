// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @dataflow(
relax.func @dataflow(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: relax.dataflow -> tensor<?xf32>, index {
  %0:2 = relax.dataflow -> tensor<?xf32>, index {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
    %2 = relax.sym n : index
    // CHECK: relax.output %{{.*}}, %{{.*}} : tensor<?xf32, #relax.shape<[n]>>, index
    relax.output %1, %2 : tensor<?xf32, #relax.shape<[n]>>, index
  }
  // A symbol of the block is visible after it.
  // CHECK: relax.sym n + 1
  %3 = relax.sym n + 1 : index
  // CHECK: relax.dataflow attributes {note} {
  // CHECK-NEXT: relax.output
  relax.dataflow attributes {note} {
    relax.output
  }
  relax.return %0#0 : tensor<?xf32>
}

// CHECK-LABEL: relax.func @branches(
relax.func @branches(%c: i1, %t: tensor<i1>, %x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<4xf32>) {
  // CHECK: relax.if %{{.*}} : i1 -> tensor<?xf32> {
  %0 = relax.if %c : i1 -> tensor<?xf32> {
    // CHECK-NEXT: relax.yield %{{.*}} : tensor<?xf32, #relax.shape<[n]>>
    relax.yield %x : tensor<?xf32, #relax.shape<[n]>>
  // CHECK-NEXT: } else {
  } else {
    relax.yield %y : tensor<4xf32>
  }
  // CHECK: relax.if %{{.*}} : tensor<i1> {
  relax.if %t : tensor<i1> {
    // CHECK: relax.assert %{{.*}}, "lengths must agree" : i1
    relax.assert %c, "lengths must agree" : i1
    relax.yield
  } else {
    // CHECK: relax.assert %{{.*}}, "or not" : tensor<i1>
    relax.assert %t, "or not" : tensor<i1>
    // CHECK: relax.assert %{{.*}}, "%0 is more than %1" first %{{.*}} second %{{.*}} : i1
    %size = relax.sym n : index
    relax.assert %c, "%0 is more than %1" first %size second %size : i1
    relax.yield
  }
  relax.return
}

// CHECK-LABEL: relax.func @loop(
relax.func @loop(%c: i1, %x: tensor<4xf32>, %s: !relax.shape<[n]>) {
  // CHECK: relax.while %{{.*}}, %{{.*}} : (tensor<4xf32>, !relax.shape<[n]>) -> (tensor<?xf32>, !relax.shape<[n]>) {
  %0:2 = relax.while %x, %s : (tensor<4xf32>, !relax.shape<[n]>) -> (tensor<?xf32>, !relax.shape<[n]>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32>, %{{.*}}: !relax.shape<[n]>):
  ^bb0(%a: tensor<?xf32>, %b: !relax.shape<[n]>):
    // CHECK-NEXT: relax.condition %{{.*}} : i1
    relax.condition %c : i1
  // CHECK-NEXT: } do {
  } do {
  ^bb0(%a: tensor<?xf32>, %b: !relax.shape<[n]>):
    // CHECK: relax.yield %{{.*}}, %{{.*}} : tensor<?xf32>, !relax.shape<[n]>
    relax.yield %a, %b : tensor<?xf32>, !relax.shape<[n]>
  }
  relax.return
}
