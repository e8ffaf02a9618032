// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-legalize -verify-diagnostics | FileCheck %s

// Equal kernels are created once, whatever the names of their callers' symbols are.
// CHECK-LABEL: relax.func @shared
// CHECK: relax.call_tir @exp(
// CHECK: relax.call_tir @exp(
// CHECK-LABEL: func.func private @exp
// CHECK-SAME: relax.shape = #relax.shape<[s0, 4]>
// CHECK-NOT: func.func
relax.func @shared(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?x4xf32, #relax.shape<[m, 4]>>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.exp %y : (tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  relax.return %0, %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>
}

// -----

// A symbol that no parameter has as a plain dimension is an integer parameter.
// CHECK-LABEL: relax.func @passed
// CHECK: relax.call_tir @exp(%{{.*}}) sym [n]
// CHECK-LABEL: func.func private @exp
// CHECK-SAME: %{{.*}}: index {relax.symbol = "s0"}
relax.func @passed(%n: index {relax.symbol = "n"}, %x: tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>> {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[2*n]>>
}

// -----

// An unknown dimension gets a symbol, which all uses of the tensor share.
// CHECK-LABEL: relax.func @named
// CHECK: %[[X:.*]] = relax.match_cast %{{.*}} -> tensor<?xf32, #relax.shape<[d0]>>
// CHECK: relax.call_tir @add(%[[X]]) : (tensor<?xf32, #relax.shape<[d0]>>)
relax.func @named(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}

// -----

// A splat operand is not an operand of the kernel, and unsigned elements are signless in it.
// CHECK-LABEL: relax.func @numbers
// CHECK: relax.call_tir @maximum(%arg0) : (tensor<4xui8>) -> tensor<4xui8>
// CHECK-LABEL: func.func private @maximum(%{{.*}}: tensor<4xi8>, %{{.*}}: tensor<4xi8>) -> tensor<4xi8>
// CHECK: arith.maxui
relax.func @numbers(%x: tensor<4xui8>) -> tensor<4xui8> {
  %c = relax.constant dense<3> : tensor<ui8>
  %0 = relax.maximum %x, %c : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
  relax.return %0 : tensor<4xui8>
}

// -----

// Undecided sizes are checked before the call; the dataflow block around it is dissolved, and the
// function and its caller are no longer pure.
// CHECK-LABEL: relax.func private @checked
// CHECK-NOT: pure
// CHECK-NOT: relax.dataflow
// CHECK: %[[N:.*]] = relax.sym n : index
// CHECK: arith.cmpi eq, %[[N]]
// CHECK: relax.assert %{{.*}}, "add: cannot broadcast a dimension of size n to 4: n = %0" first %{{.*}} : i1
// CHECK: relax.call_tir @add
// CHECK-LABEL: relax.func @caller
// CHECK-NOT: relax.dataflow
// CHECK: relax.call @checked
relax.func private @checked(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.add %x, %y : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
relax.func @caller(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.call pure @checked(%x, %y) : (tensor<?xf32, #relax.shape<[n]>>, tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// Without anything to check, a dataflow block and control flow stay.
// CHECK-LABEL: relax.func @nested
// CHECK: relax.dataflow
// CHECK: relax.call_tir @exp
// CHECK: relax.if
// CHECK: relax.call_tir @negative
relax.func @nested(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.dataflow -> tensor<4xf32> {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  %2 = relax.if %c : i1 -> tensor<4xf32> {
    %3 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  } else {
    relax.yield %0 : tensor<4xf32>
  }
  relax.return %2 : tensor<4xf32>
}

// -----

// An op that only copies is replaced by its operand.
// CHECK-LABEL: relax.func @copied
// CHECK-NEXT: relax.return %arg0
relax.func @copied(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = relax.floor %x : (tensor<4xi32>) -> tensor<4xi32>
  relax.return %0 : tensor<4xi32>
}

// -----

// An op whose rank is not known has no kernel.
relax.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{cannot be turned into a kernel: the rank of each tensor must be known; state it with relax.match_cast}}
  %0 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}
