// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-schedule-kernels="vector-bits=256" -canonicalize -cse | FileCheck %s

#data = affine_map<(n, o, h, w, c, i, j) -> (n, c, h + i, w + j)>
#weight = affine_map<(n, o, h, w, c, i, j) -> (o, c, i, j)>
#out = affine_map<(n, o, h, w, c, i, j) -> (n, o, h, w)>

// Over data of width 1, the rows are next to each other, so vectors run along
// them, and the result is not gathered or scattered.
// CHECK-LABEL: func.func private @width_one
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x64x512x1xf32>
// CHECK:         %[[ROWS:.*]] = memref.collapse_shape %[[X]] {{.*}} : memref<1x64x512x1xf32> into memref<64x512xf32>
// CHECK:         vector.load %[[ROWS]]
// CHECK:         vector.store %{{.*}} : memref<32x508xf32>, vector<8xf32>
// CHECK-NOT:     vector.gather
// CHECK-NOT:     vector.scatter
func.func private @width_one(%x: tensor<1x64x512x1xf32>, %w: tensor<32x64x5x1xf32>, %out: tensor<1x32x508x1xf32>) -> tensor<1x32x508x1xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<1x32x508x1xf32>) -> tensor<1x32x508x1xf32>
  %0 = linalg.generic {indexing_maps = [#data, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x64x512x1xf32>, tensor<32x64x5x1xf32>) outs(%init : tensor<1x32x508x1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x32x508x1xf32>
  return %0 : tensor<1x32x508x1xf32>
}
