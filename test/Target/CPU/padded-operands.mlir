// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -pass-pipeline='builtin.module(relax-convert-kernel-boundary,func.func(relax-cpu-schedule-kernels{vector-bits=256}))' | FileCheck %s

#data = affine_map<(o, h, c, k) -> (c, h + k)>
#weight = affine_map<(o, h, c, k) -> (o, c, k)>
#out = affine_map<(o, h, c, k) -> (o, h)>

// A padded operand whose elements are read several times is written to scratch
// memory: the filler, then the data, in parallel.
// CHECK-LABEL: func.func private @padded
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<64x?xf32
// CHECK:         %[[BUFFER:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<64x?xf32>
// CHECK:         %[[INNER:.*]] = memref.subview %[[BUFFER]][0, 1]
// CHECK:         scf.forall
// CHECK:         vector.store %{{.*}}, %[[BUFFER]]
// CHECK:         scf.forall
// CHECK:         %[[ELEMENTS:.*]] = vector.load %[[X]]
// CHECK:         vector.store %[[ELEMENTS]], %[[INNER]]
// CHECK-NOT:     linalg.generic
// CHECK:         scf.forall
// CHECK-NOT:     linalg.generic
func.func private @padded(%x: tensor<64x?xf32> {relax.shape = #relax.shape<[64, n]>}, %w: tensor<8x64x3xf32>, %out: tensor<8x?xf32> {relax.shape = #relax.shape<[8, n]>}) -> tensor<8x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c1 : tensor<64x?xf32>
  %wide = arith.addi %n, %c2 : index
  %empty = tensor.empty(%wide) : tensor<64x?xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x?xf32>) -> tensor<64x?xf32>
  %padded = tensor.insert_slice %x into %filled[0, 1] [64, %n] [1, 1] : tensor<64x?xf32> into tensor<64x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<8x?xf32>) -> tensor<8x?xf32>
  %0 = linalg.generic {indexing_maps = [#data, #weight, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%padded, %w : tensor<64x?xf32>, tensor<8x64x3xf32>) outs(%init : tensor<8x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// -----

#data = affine_map<(c, h, k) -> (c, h + k)>
#weight = affine_map<(c, h, k) -> (c, k)>
#out = affine_map<(c, h, k) -> (c, h)>

// So is that of a short sum.
// CHECK-LABEL: func.func private @short
// CHECK:         memref.alloc
// CHECK-COUNT-3: scf.forall
// CHECK-NOT:     linalg.generic
func.func private @short(%x: tensor<16x30xf32>, %w: tensor<16x3xf32>, %out: tensor<16x30xf32>) -> tensor<16x30xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x32xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x32xf32>) -> tensor<16x32xf32>
  %padded = tensor.insert_slice %x into %filled[0, 1] [16, 30] [1, 1] : tensor<16x30xf32> into tensor<16x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<16x30xf32>) -> tensor<16x30xf32>
  %0 = linalg.generic {indexing_maps = [#data, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%padded, %w : tensor<16x32xf32>, tensor<16x3xf32>) outs(%init : tensor<16x30xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x30xf32>
  return %0 : tensor<16x30xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Each element of a concatenation is read once here, so nothing is written.
// Vectors that are partly in the first input select from both.
// CHECK-LABEL: func.func private @joined
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4x?xf32>{{[^%]*}}%[[Y:[a-z0-9]+]]: memref<4x?xf32
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall
// CHECK:         %[[FIRST:.*]] = vector.maskedload %[[X]][{{.*}}], %[[INSIDE:[a-z0-9_]+]],
// CHECK:         %[[OUTSIDE:.*]] = arith.xori %[[INSIDE]]
// CHECK:         %[[SECOND:.*]] = vector.maskedload %[[Y]][{{.*}}], %[[OUTSIDE]],
// CHECK:         arith.select %[[INSIDE]], %[[FIRST]], %[[SECOND]]
func.func private @joined(%x: tensor<4x?xf32> {relax.shape = #relax.shape<[4, n]>}, %y: tensor<4x?xf32> {relax.shape = #relax.shape<[4, m]>}, %out: tensor<4x?xf32> {relax.shape = #relax.shape<[4, n + m]>}) -> tensor<4x?xf32> {
  %both = tensor.concat dim(1) %x, %y : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%both : tensor<4x?xf32>) outs(%out : tensor<4x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
