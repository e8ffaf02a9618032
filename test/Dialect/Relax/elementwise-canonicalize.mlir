// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folds of element-wise ops. They never change a bit or a shape.
// RUN: relax-opt %s -canonicalize -split-input-file | FileCheck %s

// Identities of integers.
// CHECK-LABEL: relax.func @identities_of_integers
// CHECK-NEXT: relax.return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
relax.func @identities_of_integers(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>) -> (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>) {
  %zero = relax.constant dense<0> : tensor<i32>
  %one = relax.constant dense<1> : tensor<4xi32>
  %ones = relax.constant dense<-1> : tensor<1x1xi32>
  %0 = relax.add %zero, %x : (tensor<i32>, tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %1 = relax.subtract %x, %zero : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<i32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %2 = relax.multiply %x, %one : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<4xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %3 = relax.divide %x, %one : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<4xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %4 = relax.floor_divide %x, %one : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<4xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %5 = relax.bitwise_and %x, %ones : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1x1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %6 = relax.bitwise_or %x, %x : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %7 = relax.right_shift %x, %zero : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<i32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  relax.return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>
}

// -----

// For floats, only operations that preserve -0.0 are identities.
// CHECK-LABEL: relax.func @identities_of_floats
// CHECK-NEXT: relax.return %arg0, %arg0, %arg0, %arg0, %arg0
relax.func @identities_of_floats(%x: tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) {
  %minus_zero = relax.constant dense<-0.0> : tensor<f32>
  %zero = relax.constant dense<0.0> : tensor<f32>
  %one = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.add %x, %minus_zero : (tensor<?xf32, #relax.shape<[n]>>, tensor<f32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.subtract %x, %zero : (tensor<?xf32, #relax.shape<[n]>>, tensor<f32>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.multiply %one, %x : (tensor<f32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.divide %x, %one : (tensor<?xf32, #relax.shape<[n]>>, tensor<f32>) -> tensor<?xf32, #relax.shape<[n]>>
  %4 = relax.power %x, %one : (tensor<?xf32, #relax.shape<[n]>>, tensor<f32>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0, %1, %2, %3, %4 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>
}

// -----

// Some ops are not identities: -0.0 + 0.0 is 0.0, -0.0 - -0.0 is 0.0, infinity
// - infinity is NaN, 1.5 rounds to 1.0, and 1 / x is not x.
// CHECK-LABEL: relax.func @no_identities
// CHECK: %[[ADD:.*]] = relax.add
// CHECK: %[[SUB:.*]] = relax.subtract
// CHECK: %[[DIFF:.*]] = relax.subtract
// CHECK: %[[FLOOR:.*]] = relax.floor_divide
// CHECK: %[[DIV:.*]] = relax.divide
// CHECK: relax.return %[[ADD]], %[[SUB]], %[[DIFF]], %[[FLOOR]], %[[DIV]]
relax.func @no_identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = relax.constant dense<0.0> : tensor<f32>
  %minus_zero = relax.constant dense<-0.0> : tensor<f32>
  %one = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relax.subtract %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relax.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.floor_divide %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = relax.divide %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// If the constant one has a larger shape than x, the result is not x.
// CHECK-LABEL: relax.func @broader_identity
// CHECK: %[[Y:.*]] = relax.multiply
// CHECK: relax.return %[[Y]]
relax.func @broader_identity(%x: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %one = relax.constant dense<1.0> : tensor<3x1xf32>
  %0 = relax.multiply %x, %one : (tensor<1x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  relax.return %0 : tensor<3x4xf32>
}

// -----

// The types agree, but x may have 1 element where the result has 3.
// CHECK-LABEL: relax.func @maybe_broader_identity
// CHECK: %[[Y:.*]] = relax.multiply
// CHECK: relax.return %[[Y]]
relax.func @maybe_broader_identity(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = relax.constant dense<1.0> : tensor<3xf32>
  %0 = relax.multiply %x, %one : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}

// -----

// The constant one may have a higher rank than x, unless it is a scalar.
// CHECK-LABEL: relax.func @unranked_identity
// CHECK: %[[Y:.*]] = relax.multiply %arg0, %{{.*}} : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
// CHECK: relax.return %[[Y]], %arg0
relax.func @unranked_identity(%x: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %one = relax.constant dense<1.0> : tensor<1xf32>
  %scalar = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.multiply %x, %one : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
  %1 = relax.multiply %x, %scalar : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  relax.return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A result of a coarser type is not replaced.
// CHECK-LABEL: relax.func @coarser_result
// CHECK: %[[Y:.*]] = relax.multiply
// CHECK: relax.return %[[Y]]
relax.func @coarser_result(%x: tensor<4xf32>) -> tensor<?xf32> {
  %one = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.multiply %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}

// -----

// Results of zeros, ones and full are known splats.
// CHECK-LABEL: relax.func @splats_without_constants
// CHECK-NEXT: relax.return %arg0, %arg0, %arg0, %arg0
relax.func @splats_without_constants(%x: tensor<?xi32, #relax.shape<[n]>>, %s: !relax.shape<[n]>) -> (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) {
  %zeros = relax.zeros %s {dtype = i32} : (!relax.shape<[n]>) -> tensor<?xi32, #relax.shape<[n]>>
  %ones = relax.ones_like %x : (tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  %one = relax.constant dense<1> : tensor<i32>
  %full = relax.full %s, %one : (!relax.shape<[n]>, tensor<i32>) -> tensor<?xi32, #relax.shape<[n]>>
  %like = relax.full_like %x, %one : (tensor<?xi32, #relax.shape<[n]>>, tensor<i32>) -> tensor<?xi32, #relax.shape<[n]>>
  %0 = relax.add %x, %zeros : (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  %1 = relax.multiply %x, %ones : (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  %2 = relax.multiply %full, %x : (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  %3 = relax.divide %x, %like : (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  relax.return %0, %1, %2, %3 : tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>
}

// -----

// Ops that are applied twice are simplified.
// CHECK-LABEL: relax.func @twice
// CHECK-NEXT: %[[ABS:.*]] = relax.abs %arg0
// CHECK-NEXT: %[[RELU:.*]] = relax.relu %arg0
// CHECK-NEXT: relax.return %arg0, %[[ABS]], %[[RELU]], %arg1, %arg1
relax.func @twice(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>) {
  %0 = relax.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.abs %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.relu %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = relax.logical_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %7 = relax.logical_not %6 : (tensor<4xi1>) -> tensor<4xi1>
  %8 = relax.bitwise_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %9 = relax.bitwise_not %8 : (tensor<4xi1>) -> tensor<4xi1>
  relax.return %1, %3, %5, %7, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>
}

// -----

// Rounding does not change integers.
// CHECK-LABEL: relax.func @rounding_of_integers
// CHECK-NEXT: relax.return %arg0
relax.func @rounding_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = relax.floor %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = relax.round %0 : (tensor<4xi32>) -> tensor<4xi32>
  relax.return %1 : tensor<4xi32>
}

// -----

// A lossless conversion is folded into the conversion that follows it.
// CHECK-LABEL: relax.func @exact_conversions
// CHECK-NEXT: %[[HALF:.*]] = relax.astype %arg1 {dtype = f16} : (tensor<4xi8>) -> tensor<4xf16>
// CHECK-NEXT: relax.return %arg0, %[[HALF]], %arg1
relax.func @exact_conversions(%x: tensor<4xf16>, %i: tensor<4xi8>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xi8>) {
  %0 = relax.astype %x {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %1 = relax.astype %0 {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %2 = relax.astype %i {dtype = i32} : (tensor<4xi8>) -> tensor<4xi32>
  %3 = relax.astype %2 {dtype = f16} : (tensor<4xi32>) -> tensor<4xf16>
  %4 = relax.astype %i {dtype = i8} : (tensor<4xi8>) -> tensor<4xi8>
  relax.return %1, %3, %4 : tensor<4xf16>, tensor<4xf16>, tensor<4xi8>
}

// -----

// Conversions that round, truncate or change the signedness stay.
// CHECK-LABEL: relax.func @lossy_conversions
// CHECK-COUNT-6: relax.astype
// CHECK-NOT: relax.astype
relax.func @lossy_conversions(%x: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = relax.astype %x {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = relax.astype %0 {dtype = f32} : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = relax.astype %i {dtype = ui8} : (tensor<4xi8>) -> tensor<4xui8>
  %3 = relax.astype %2 {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %4 = relax.astype %i {dtype = i1} : (tensor<4xi8>) -> tensor<4xi1>
  %5 = relax.astype %4 {dtype = i32} : (tensor<4xi1>) -> tensor<4xi32>
  relax.return %1, %3, %5 : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// Two consecutive clips become one, even if their intervals are disjoint.
// CHECK-LABEL: relax.func @clip_of_clip
// CHECK-NEXT: %[[A:.*]] = relax.clip %arg0 {max = 4.000000e+00 : f64, min = 1.000000e+00 : f64}
// CHECK-NEXT: %[[B:.*]] = relax.clip %arg0 {max = 9.000000e+00 : f64, min = 9.000000e+00 : f64}
// CHECK-NEXT: relax.return %[[A]], %[[B]], %arg0
relax.func @clip_of_clip(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.clip %x {min = 0.0, max = 4.0} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.clip %0 {min = 1.0, max = 5.0} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.clip %0 {min = 9.0, max = 10.0} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.clip %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant condition is folded if the selected operand has the shape of the
// result.
// CHECK-LABEL: relax.func @known_choice
// CHECK: %[[W:.*]] = relax.where
// CHECK: relax.return %arg0, %arg1, %[[W]]
relax.func @known_choice(%x: tensor<4xf32>, %y: tensor<4xf32>, %one: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = relax.constant dense<true> : tensor<4xi1>
  %false = relax.constant dense<false> : tensor<i1>
  %0 = relax.where %true, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.where %false, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.where %true, %one, %y : (tensor<4xi1>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Splat constants are folded if the shape is static; integers wrap around.
// CHECK-LABEL: relax.func @constants
// CHECK-DAG: %[[SUM:.*]] = relax.constant dense<-128> : tensor<3x4xi8>
// CHECK-DAG: %[[LESS:.*]] = relax.constant dense<true> : tensor<3x4xi1>
// CHECK-DAG: %[[FLOOR:.*]] = relax.constant dense<-64> : tensor<4xi8>
// CHECK-DAG: %[[TRUNC:.*]] = relax.constant dense<-63> : tensor<4xi8>
// CHECK-DAG: %[[PRODUCT:.*]] = relax.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK: relax.return %[[SUM]], %[[LESS]], %[[FLOOR]], %[[TRUNC]], %[[PRODUCT]]
relax.func @constants() -> (tensor<3x4xi8>, tensor<3x4xi1>, tensor<4xi8>, tensor<4xi8>, tensor<2xf32>) {
  %one = relax.constant dense<1> : tensor<3x1xi8>
  %max = relax.constant dense<127> : tensor<4xi8>
  %two = relax.constant dense<-2> : tensor<i8>
  %a = relax.constant dense<1.5> : tensor<2xf32>
  %b = relax.constant dense<2.0> : tensor<f32>
  %0 = relax.add %one, %max : (tensor<3x1xi8>, tensor<4xi8>) -> tensor<3x4xi8>
  %1 = relax.less %one, %max : (tensor<3x1xi8>, tensor<4xi8>) -> tensor<3x4xi1>
  %2 = relax.floor_divide %max, %two : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %3 = relax.divide %max, %two : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %4 = relax.multiply %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  relax.return %0, %1, %2, %3, %4 : tensor<3x4xi8>, tensor<3x4xi1>, tensor<4xi8>, tensor<4xi8>, tensor<2xf32>
}

// -----

// Integer divisions that would trap on processors give the results of the
// kernels.
// CHECK-LABEL: relax.func @special_quotients
// CHECK-DAG: %[[ZERO:.*]] = relax.constant dense<0> : tensor<4xi8>
// CHECK-DAG: %[[LEAST:.*]] = relax.constant dense<-128> : tensor<4xi8>
// CHECK: relax.return %[[ZERO]], %[[ZERO]], %[[LEAST]], %[[LEAST]]
relax.func @special_quotients() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %least = relax.constant dense<-128> : tensor<4xi8>
  %zero = relax.constant dense<0> : tensor<i8>
  %minus = relax.constant dense<-1> : tensor<i8>
  %0 = relax.divide %least, %zero : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %1 = relax.floor_divide %least, %zero : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %2 = relax.divide %least, %minus : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %3 = relax.floor_divide %least, %minus : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  relax.return %0, %1, %2, %3 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// -----

// Constants without elements stay.
// CHECK-LABEL: relax.func @no_elements
// CHECK: %[[E:.*]] = relax.add
// CHECK: relax.return %[[E]]
relax.func @no_elements() -> tensor<0xi8> {
  %empty = relax.constant dense<> : tensor<0xi8>
  %0 = relax.add %empty, %empty : (tensor<0xi8>, tensor<0xi8>) -> tensor<0xi8>
  relax.return %0 : tensor<0xi8>
}

// -----

// For integers, x - x is zero if the shape is static.
// CHECK-LABEL: relax.func @difference_of_same
// CHECK-DAG: %[[ZERO:.*]] = relax.constant dense<0> : tensor<4xi32>
// CHECK-DAG: %[[SUB:.*]] = relax.subtract %arg1, %arg1
// CHECK: relax.return %[[ZERO]], %[[SUB]]
relax.func @difference_of_same(%x: tensor<4xi32>, %y: tensor<?xi32, #relax.shape<[n]>>) -> (tensor<4xi32>, tensor<?xi32, #relax.shape<[n]>>) {
  %0 = relax.subtract %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = relax.subtract %y, %y : (tensor<?xi32, #relax.shape<[n]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<?xi32, #relax.shape<[n]>>
  relax.return %0, %1 : tensor<4xi32>, tensor<?xi32, #relax.shape<[n]>>
}

// -----

// Small floats are not folded: their arithmetic differs between machines, and
// some formats lack signs or zeros.
// CHECK-LABEL: relax.func @small_floats
// CHECK: %[[ZEROS:.*]] = relax.zeros_like
// CHECK: %[[ADD:.*]] = relax.add %arg0, %[[ZEROS]]
// CHECK: %[[NEG:.*]] = relax.negative
// CHECK: relax.return %[[ADD]], %[[NEG]]
relax.func @small_floats(%x: tensor<4xf8E8M0FNU>) -> (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) {
  %zeros = relax.zeros_like %x : (tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU>
  %two = relax.constant dense<2.0> : tensor<4xf8E8M0FNU>
  %0 = relax.add %x, %zeros : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU>
  %1 = relax.negative %two : (tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU>
  relax.return %0, %1 : tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>
}

// -----

// Comparisons respect signedness and NaN.
// CHECK-LABEL: relax.func @comparisons
// CHECK-DAG: %[[TRUE:.*]] = relax.constant dense<true> : tensor<2xi1>
// CHECK-DAG: %[[FALSE:.*]] = relax.constant dense<false> : tensor<2xi1>
// CHECK: relax.return %[[TRUE]], %[[FALSE]], %[[TRUE]], %[[FALSE]], %[[TRUE]], %[[FALSE]]
relax.func @comparisons() -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %minus = relax.constant dense<-1> : tensor<2xi8>
  %one = relax.constant dense<1> : tensor<2xi8>
  %big = relax.constant dense<255> : tensor<2xui8>
  %small = relax.constant dense<1> : tensor<2xui8>
  %nan = relax.constant dense<0x7FC00000> : tensor<2xf32>
  %0 = relax.less %minus, %one : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  %1 = relax.less_equal %big, %small : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %2 = relax.greater %big, %small : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %3 = relax.greater_equal %nan, %nan : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %4 = relax.not_equal %nan, %nan : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %5 = relax.equal %nan, %nan : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  relax.return %0, %1, %2, %3, %4, %5 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}
