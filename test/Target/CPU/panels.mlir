// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-convert-kernel-boundary -relax-cpu-schedule-kernels="vector-bits=256" -canonicalize -cse | FileCheck %s

// Each block of columns of the second operand is copied for all 32 rows: 64
// steps of the sum by 2 vectors.
// CHECK-LABEL: func.func private @many_rows
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<32x64xf32{{.*}}>, %[[X:[a-z0-9]+]]: memref<64x?xf32
// CHECK:         scf.forall
// CHECK:           %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64x16xf32>
// CHECK:           scf.for %[[STEP:.*]] = %c0 to %c64
// CHECK:             %[[FIRST:.*]] = vector.load %[[X]][%[[STEP]], %{{.*}}]
// CHECK:             vector.store %[[FIRST]], %[[PANEL]][%[[STEP]], %c0]
// CHECK:             %[[SECOND:.*]] = vector.load %[[X]][%[[STEP]], %{{.*}}]
// CHECK:             vector.store %[[SECOND]], %[[PANEL]][%[[STEP]], %c8]
// CHECK:           %{{.*}}:12 = scf.for %[[K:.*]] = %c0 to %c64
// CHECK-DAG:         vector.load %[[PANEL]][%[[K]], %c0]
// CHECK-DAG:         vector.load %[[PANEL]][%[[K]], %c8]
// CHECK-NOT:         vector.load %[[X]]
// CHECK:             scf.yield
func.func private @many_rows(%w: tensor<32x64xf32>, %x: tensor<64x?xf32> {relax.shape = #relax.shape<[64, n]>}, %out: tensor<32x?xf32> {relax.shape = #relax.shape<[32, n]>}) -> tensor<32x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<32x?xf32>) -> tensor<32x?xf32>
  %0 = linalg.matmul ins(%w, %x : tensor<32x64xf32>, tensor<64x?xf32>) outs(%init : tensor<32x?xf32>) -> tensor<32x?xf32>
  return %0 : tensor<32x?xf32>
}

// -----

// Few rows do not pay for a copy.
// CHECK-LABEL: func.func private @few_rows
// CHECK-NOT:     memref.alloc
func.func private @few_rows(%w: tensor<12x64xf32>, %x: tensor<64x?xf32> {relax.shape = #relax.shape<[64, n]>}, %out: tensor<12x?xf32> {relax.shape = #relax.shape<[12, n]>}) -> tensor<12x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<12x?xf32>) -> tensor<12x?xf32>
  %0 = linalg.matmul ins(%w, %x : tensor<12x64xf32>, tensor<64x?xf32>) outs(%init : tensor<12x?xf32>) -> tensor<12x?xf32>
  return %0 : tensor<12x?xf32>
}
