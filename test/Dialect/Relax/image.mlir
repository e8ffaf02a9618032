// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt --emit-bytecode %s | relax-opt | FileCheck %s
// RUN: relax-opt --mlir-print-op-generic %s | relax-opt | FileCheck %s

// Symbolic widths can pad to a multiple and crop; all modes are covered.
// CHECK-LABEL: relax.func @pad
relax.func @pad(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<3x?xi64, #relax.shape<[3, n]>>, %z: tensor<*xf32>) {
  // CHECK: relax.pad %{{.*}} by [0, (15*n) mod 16, 1, 1] : {{.*}} -> tensor<?x6xf32, #relax.shape<[n + (15*n) mod 16, 6]>>
  %0 = relax.pad %x by [0, -n mod 16, 1, 1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x6xf32, #relax.shape<[n + -n mod 16, 6]>>
  // CHECK: relax.pad %{{.*}} by [0, 2*n, -1, -3] {pad_value = 1.000000e+00 : f64} : {{.*}} -> tensor<?x0xf32, #relax.shape<[3*n, 0]>>
  %1 = relax.pad %x by [0, 2*n, -1, -3] {pad_value = 1.0 : f64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x0xf32, #relax.shape<[3*n, 0]>>
  // CHECK: relax.pad %{{.*}} by [1, 1, n, 0] {pad_value = -9223372036854775807 : i64}
  %2 = relax.pad %y by [1, 1, n, 0] {pad_value = -9223372036854775807 : i64} : (tensor<3x?xi64, #relax.shape<[3, n]>>) -> tensor<5x?xi64, #relax.shape<[5, 2*n]>>
  // CHECK: {pad_mode = "reflect"}
  %3 = relax.pad %y by [2, 2, 0, 0] {pad_mode = "reflect"} : (tensor<3x?xi64, #relax.shape<[3, n]>>) -> tensor<7x?xi64, #relax.shape<[7, n]>>
  // CHECK: {pad_mode = "circular"}
  %4 = relax.pad %y by [3, 3, n, n] {pad_mode = "circular"} : (tensor<3x?xi64, #relax.shape<[3, n]>>) -> tensor<9x?xi64, #relax.shape<[9, 3*n]>>
  // CHECK: {pad_mode = "replicate"}
  %5 = relax.pad %y by [9, 0, 1, 1] {pad_mode = "replicate"} : (tensor<3x?xi64, #relax.shape<[3, n]>>) -> tensor<12x?xi64, #relax.shape<[12, n + 2]>>
  // The number of widths determines the rank.
  // CHECK: relax.pad %{{.*}} by [0, 1, 0, 1] : (tensor<*xf32>) -> tensor<?x?xf32>
  %6 = relax.pad %z by [0, 1, 0, 1] : (tensor<*xf32>) -> tensor<?x?xf32>
  relax.return
}

// A scalar has no axis to pad.
// CHECK-LABEL: relax.func @pad_scalar
// CHECK: relax.pad %{{.*}} by [] : (tensor<f32>) -> tensor<f32>
relax.func @pad_scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = relax.pad %x by [] : (tensor<f32>) -> tensor<f32>
  relax.return %0 : tensor<f32>
}

// The result has the expressions of the size operand as dimensions, however it
// is computed.
// CHECK-LABEL: relax.func @resize2d
relax.func @resize2d(%x: tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, %y: tensor<?x8x8x3xui8, #relax.shape<[b, 8, 8, 3]>>, %z: tensor<*xf32>, %known: !relax.shape<[2*h, w]>, %rank: !relax.shape<2>, %any: !relax.shape<*>) {
  // CHECK: relax.resize2d %{{.*}}, %{{.*}} {method = "nearest_neighbor"} : {{.*}} -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, w]>>
  %0 = relax.resize2d %x, %known {method = "nearest_neighbor"} : (tensor<1x3x?x?xf32, #relax.shape<[1, 3, h, w]>>, !relax.shape<[2*h, w]>) -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, w]>>
  // CHECK: {coordinate_transformation_mode = "align_corners", cubic_alpha = -5.000000e-01 : f64, cubic_exclude = true, layout = "NHWC", method = "cubic", out_dtype = f32}
  %1 = relax.resize2d %y, %rank {coordinate_transformation_mode = "align_corners", cubic_alpha = -0.5 : f64, cubic_exclude = true, layout = "NHWC", method = "cubic", out_dtype = f32} : (tensor<?x8x8x3xui8, #relax.shape<[b, 8, 8, 3]>>, !relax.shape<2>) -> tensor<?x?x?x3xf32, #relax.shape<[b, ?, ?, 3]>>
  // CHECK: (tensor<*xf32>, !relax.shape<*>) -> tensor<?x?x?x?xf32>
  %2 = relax.resize2d %z, %any {coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 1.0 : f64, roi = array<f64: 0.1, 0.2, 0.9, 0.8>} : (tensor<*xf32>, !relax.shape<*>) -> tensor<?x?x?x?xf32>
  relax.return
}

// CHECK-LABEL: relax.func @pixel_shuffle
relax.func @pixel_shuffle(%x: tensor<1x12x?x?xf32, #relax.shape<[1, 12, h, w]>>, %y: tensor<?x?x5xf32, #relax.shape<[9*c, h, 5]>>, %z: tensor<*xf32>, %s: !relax.shape<[c]>) {
  // CHECK: relax.pixel_shuffle %{{.*}} by 2 : {{.*}} -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, 2*w]>>
  %0 = relax.pixel_shuffle %x by 2 : (tensor<1x12x?x?xf32, #relax.shape<[1, 12, h, w]>>) -> tensor<1x3x?x?xf32, #relax.shape<[1, 3, 2*h, 2*w]>>
  // CHECK: -> tensor<?x?x15xf32, #relax.shape<[c, 3*h, 15]>>
  %1 = relax.pixel_shuffle %y by 3 : (tensor<?x?x5xf32, #relax.shape<[9*c, h, 5]>>) -> tensor<?x?x15xf32, #relax.shape<[c, 3*h, 15]>>
  // CHECK: (tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.pixel_shuffle %z by 2 : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}
