// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-approximate-math | FileCheck %s

// Math functions on vectors become arithmetic without conversions to integers, which are undefined for NaN.
// CHECK-LABEL: func.func @exp(
// CHECK-NOT:     math.exp
// CHECK-NOT:     arith.fptosi
// CHECK:         scf.if
// CHECK:           vector.fma
// CHECK:         } else {
// CHECK:           vector.fma
// CHECK:         return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// Blocks with many exponentials, such as the epilogue of a contraction, get no
// branches.
// CHECK-LABEL: func.func @many(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @many(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %0 : vector<16xf32>
  %2 = math.exp %1 : vector<16xf32>
  return %0, %1, %2 : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Half precision is computed in f32.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK-NOT:     math.erf
// CHECK:         arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
func.func @half(%x: vector<16xf16>) -> vector<16xf16> {
  %0 = math.erf %x : vector<16xf16>
  return %0 : vector<16xf16>
}

// Large arguments of sine call libm lane by lane.
// CHECK-LABEL: func.func @sin(
// CHECK:         scf.if
// CHECK:         } else {
// CHECK:           math.sin %{{.*}} : f32
func.func @sin(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.sin %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// Scalars and double precision are left to libm.
// CHECK-LABEL: func.func @left(
// CHECK-NEXT:    math.exp %{{.*}} : f32
// CHECK-NEXT:    math.log %{{.*}} : vector<8xf64>
func.func @left(%x: f32, %y: vector<8xf64>) -> (f32, vector<8xf64>) {
  %0 = math.exp %x : f32
  %1 = math.log %y : vector<8xf64>
  return %0, %1 : f32, vector<8xf64>
}
