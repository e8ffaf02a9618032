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

#weight1 = affine_map<(o, h, w, c) -> (o, c)>
#data1 = affine_map<(o, h, w, c) -> (c, h, w)>
#out1 = affine_map<(o, h, w, c) -> (o, h, w)>
#all = affine_map<(o, h, w) -> (o, h, w)>
#channel = affine_map<(o, h, w) -> (o)>

// Height and width are one loop, in the sum and in the ops on its result.
// CHECK-LABEL: func.func private @one_by_one
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<64x?x?xf32
// CHECK-DAG:     memref.collapse_shape %[[X]] {{.*}} : memref<64x?x?xf32> into memref<64x?xf32>
// CHECK-DAG:     memref.collapse_shape %{{.*}} : memref<32x?x?xf32> into memref<32x?xf32>
// CHECK-NOT:     memref.alloc{{.*}}x?
// CHECK:         vector.store %{{.*}} : memref<32x?xf32>, vector<8xf32>
// CHECK-NOT:     linalg.generic
func.func private @one_by_one(%x: tensor<64x?x?xf32> {relax.shape = #relax.shape<[64, h, w]>}, %w: tensor<32x64xf32>, %b: tensor<32xf32>, %out: tensor<32x?x?xf32> {relax.shape = #relax.shape<[32, h, w]>}) -> tensor<32x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<32x?x?xf32>) -> tensor<32x?x?xf32>
  %0 = linalg.generic {indexing_maps = [#weight1, #data1, #out1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %x : tensor<32x64xf32>, tensor<64x?x?xf32>) outs(%init : tensor<32x?x?xf32>) {
  ^bb0(%a: f32, %v: f32, %c: f32):
    %1 = arith.mulf %a, %v : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<32x?x?xf32>
  %3 = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %b : tensor<32x?x?xf32>, tensor<32xf32>) outs(%out : tensor<32x?x?xf32>) {
  ^bb0(%a: f32, %v: f32, %c: f32):
    %4 = arith.addf %a, %v : f32
    linalg.yield %4 : f32
  } -> tensor<32x?x?xf32>
  return %3 : tensor<32x?x?xf32>
}

#row = affine_map<(n, i, k) -> (n, i, k)>
#sums = affine_map<(n, i, k) -> (n, i)>

// Two sums in one loop, of an operand that has become a reshape.
// CHECK-LABEL: func.func private @two_sums
// CHECK:         vector.
// CHECK-NOT:     linalg.generic
func.func private @two_sums(%x: tensor<1x?x8xf32> {relax.shape = #relax.shape<[1, n, 8]>}, %out: tensor<1x?xf32> {relax.shape = #relax.shape<[1, n]>}, %more: tensor<1x?xf32> {relax.shape = #relax.shape<[1, n]>}) -> (tensor<1x?xf32>, tensor<1x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<1x?xf32>) -> tensor<1x?xf32>
  %other = linalg.fill ins(%zero : f32) outs(%more : tensor<1x?xf32>) -> tensor<1x?xf32>
  %0:2 = linalg.generic {indexing_maps = [#row, #sums, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<1x?x8xf32>) outs(%start, %other : tensor<1x?xf32>, tensor<1x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.addf %b, %a : f32
    %2 = arith.mulf %a, %a : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %1, %3 : f32, f32
  } -> (tensor<1x?xf32>, tensor<1x?xf32>)
  return %0#0, %0#1 : tensor<1x?xf32>, tensor<1x?xf32>
}
