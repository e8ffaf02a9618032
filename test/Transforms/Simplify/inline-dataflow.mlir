// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-inline-dataflow | FileCheck %s

// CHECK-LABEL: relax.func @main(
// CHECK-NEXT:    %[[M:.*]] = relax.match_cast
// CHECK-NEXT:    %[[E:.*]] = relax.exp %[[M]]
// CHECK-NEXT:    relax.sym m
// CHECK-NEXT:    relax.return %[[E]]
relax.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %0 = relax.dataflow -> tensor<?xf32> {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.exp %1 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.output %2 : tensor<?xf32, #relax.shape<[m]>>
  }
  %3 = relax.sym m : index
  relax.return %0, %3 : tensor<?xf32>, index
}

// -----

// A cast preserves the operand type of an op of another dialect.
// CHECK-LABEL: relax.func @foreign(
// CHECK-NEXT:    %[[C:.*]] = relax.match_cast %{{.*}} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
// CHECK-NEXT:    arith.addf %[[C]], %[[C]]
relax.func @foreign(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  %0 = relax.dataflow -> tensor<?xf32> {
    relax.output %x : tensor<?xf32, #relax.shape<[n]>>
  }
  %1 = arith.addf %0, %0 : tensor<?xf32>
  relax.return %1 : tensor<?xf32>
}

// -----

// Blocks in branches are inlined, too; an empty block is removed.
// CHECK-LABEL: relax.func @nested(
// CHECK-NOT:     relax.dataflow
relax.func @nested(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    %1 = relax.dataflow -> tensor<4xf32> {
      relax.output %x : tensor<4xf32>
    }
    relax.yield %1 : tensor<4xf32>
  } else {
    relax.dataflow {
      relax.output
    }
    relax.yield %x : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}
