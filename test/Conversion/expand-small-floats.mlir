// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-expand-small-floats | FileCheck %s
// RUN: relax-opt %s -relax-expand-small-floats=nvidia | FileCheck %s --check-prefix=NVIDIA
// RUN: relax-opt %s -relax-expand-small-floats=only-normal | FileCheck %s --check-prefix=NORMAL

// E5M2 is the upper half of f16.
// CHECK-LABEL: func @e5m2(
// CHECK: %[[BYTE:.*]] = arith.bitcast %arg0 : f8E5M2 to i8
// CHECK: %[[WIDE:.*]] = arith.extui %[[BYTE]] : i8 to i16
// CHECK: %[[BITS:.*]] = arith.shli %[[WIDE]], %{{.*}} : i16
// CHECK: %[[HALF:.*]] = arith.bitcast %[[BITS]] : i16 to f16
// CHECK: %[[RESULT:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: return %[[RESULT]]
// NVIDIA-LABEL: func @e5m2(
// NVIDIA: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E5M2) -> vector<2xf16>
// NORMAL-LABEL: func @e5m2(
// NORMAL-DAG: %[[STEP:.*]] = arith.constant 1.52587891E-5 : f32
// NORMAL-DAG: %[[WIDE:.*]] = arith.extui %{{.*}} : i8 to i32
// NORMAL: %[[COUNT:.*]] = arith.uitofp %{{.*}} : i32 to f32
// NORMAL: arith.mulf %[[COUNT]], %[[STEP]] : f32
// NORMAL-NOT: f16
// NORMAL: return
func.func @e5m2(%x: f8E5M2) -> f32 {
  %0 = arith.extf %x : f8E5M2 to f32
  return %0 : f32
}

// The bits of E4M3 are the number up to a power of two; NaN needs special treatment.
// CHECK-LABEL: func @e4m3(
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<1.329228E+36> : vector<4xf32>
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<2143289344> : vector<4xi32>
// CHECK: arith.extui %{{.*}} : vector<4xi8> to vector<4xi32>
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : vector<4xf32>
// CHECK: arith.select %{{.*}}, %[[NAN]], %{{.*}}
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
// NVIDIA-LABEL: func @e4m3(
// NVIDIA-COUNT-2: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// NVIDIA: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// NVIDIA: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @e4m3(%x: vector<4xf8E4M3FN>) -> vector<4xbf16> {
  %0 = arith.extf %x : vector<4xf8E4M3FN> to vector<4xbf16>
  return %0 : vector<4xbf16>
}

// Rounded numbers become bytes; the largest byte is NaN.
// CHECK-LABEL: func @round(
// CHECK: arith.extf %arg0 : f16 to f32
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: arith.minui %{{.*}}, %c127_i32
// CHECK: %[[BYTE:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.bitcast %[[BYTE]] : i8 to f8E4M3FN
func.func @round(%x: f16) -> f8E4M3FN {
  %0 = arith.truncf %x : f16 to f8E4M3FN
  return %0 : f8E4M3FN
}

// Constants become constant bytes.
// CHECK-LABEL: func @constants(
// CHECK: %[[BYTES:.*]] = arith.constant dense<[60, -64]> : vector<2xi8>
// CHECK: arith.bitcast %[[BYTES]] : vector<2xi8> to vector<2xf8E5M2>
func.func @constants() -> vector<2xf8E5M2> {
  %0 = arith.constant dense<[1.0, -2.0]> : vector<2xf8E5M2>
  return %0 : vector<2xf8E5M2>
}
