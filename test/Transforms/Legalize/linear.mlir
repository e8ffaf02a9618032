// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-legalize | FileCheck %s

// The weight is read in its memory order; the sums start at zero and are stored in the destination.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func private @linear(
// CHECK-SAME: %[[A:.*]]: tensor<?x128xf32> {{{.*}}}, %[[B:.*]]: tensor<256x128xf32>, %[[C:.*]]: tensor<256xf32>, %[[OUT:.*]]: tensor<?x256xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[OUT]]
// CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] {{.*}}) outs(%[[ZERO]]
// CHECK: linalg.generic {{.*}} ins(%[[C]] {{.*}}) outs(%[[SUMS]]
relax.func @main(%x: tensor<?x128xf32, #relax.shape<[n, 128]>>, %w: tensor<256x128xf32>, %b: tensor<256xf32>) -> tensor<?x256xf32, #relax.shape<[n, 256]>> {
  %0 = relax.linear %x, %w, %b : (tensor<?x128xf32, #relax.shape<[n, 128]>>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<?x256xf32, #relax.shape<[n, 256]>>
  relax.return %0 : tensor<?x256xf32, #relax.shape<[n, 256]>>
}
