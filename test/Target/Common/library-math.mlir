// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-library-math | FileCheck %s
// RUN: relax-opt %s -relax-cpu-to-llvm | FileCheck %s --check-prefix=LLVM

// Each lane calls libm; functions with an LLVM intrinsic do not change.
// CHECK-DAG:     func.func private @log1p(f64) -> f64
// CHECK-DAG:     func.func private @asinhf(f32) -> f32
// CHECK-LABEL: func.func @doubles(
// CHECK:         vector.extract
// CHECK:         call @log1p
// CHECK:         vector.insert
// CHECK:         math.exp %{{.*}} : vector<2xf64>
// LLVM-LABEL:  llvm.func @doubles(
// LLVM-COUNT-2:  llvm.call @log1p
// LLVM:          llvm.intr.exp
// LLVM-NOT:      vector.
func.func @doubles(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.log1p %x : vector<2xf64>
  %1 = math.exp %0 : vector<2xf64>
  return %1 : vector<2xf64>
}

// Half precision is computed in f32.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.extf {{.*}} : f16 to f32
// CHECK:         call @asinhf
// CHECK:         arith.truncf {{.*}} : f32 to f16
// LLVM-LABEL:  llvm.func @half(
// LLVM-COUNT-4:  llvm.call @asinhf
// LLVM-NOT:      vector.
func.func @half(%x: vector<2x2xf16>) -> vector<2x2xf16> {
  %0 = math.asinh %x : vector<2x2xf16>
  return %0 : vector<2x2xf16>
}
