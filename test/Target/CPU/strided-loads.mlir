// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-schedule-kernels="vector-bits=256" -canonicalize -cse | FileCheck %s

// Every second element is loaded by two vectors, of which the second one ends
// at the last element that is needed. In the remainder, masks spread the active
// lanes over both.
// CHECK-LABEL: func.func private @every_second
// CHECK:         %[[FIRST:.*]] = vector.load %{{.*}}[%{{.*}}, %[[AT:.*]]] : memref<4x?xf32>, vector<8xf32>
// CHECK:         %[[SECOND:.*]] = vector.load %{{.*}} : memref<4x?xf32>, vector<8xf32>
// CHECK:         vector.shuffle %[[FIRST]], %[[SECOND]] [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK-DAG:     %[[LOW:.*]] = vector.shuffle %[[MASK]], %{{.*}} [0, 8, 1, 8, 2, 8, 3, 8]
// CHECK-DAG:     %[[HIGH:.*]] = vector.shuffle %[[MASK]], %{{.*}} [8, 4, 8, 5, 8, 6, 8, 7]
// CHECK-DAG:     vector.maskedload %{{.*}}, %[[LOW]],
// CHECK-DAG:     vector.maskedload %{{.*}}, %[[HIGH]],
// CHECK-NOT:     vector.gather
func.func private @every_second(%x: tensor<4x?xf32> {relax.shape = #relax.shape<[4, 2 * n]>}, %out: tensor<4x?xf32> {relax.shape = #relax.shape<[4, n]>}) -> tensor<4x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j * 2)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x?xf32>) outs(%out : tensor<4x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
