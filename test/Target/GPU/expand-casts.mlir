// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-expand-casts | FileCheck %s

gpu.module @kernels {
  // A byte in the lowest bits of 2^23; the subsequent subtraction of a whole number is folded into the base.
  // CHECK-LABEL: func @unsigned
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 1258291200 : i32
  // CHECK-DAG: %[[BASE:.*]] = arith.constant dense<0x4B000008> : vector<4xf32>
  // CHECK: %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
  // CHECK: %[[WORD:.*]] = vector.extract %[[WORDS]][0]
  // CHECK: nvvm.prmt <default> %{{.*}}, %[[WORD]], %[[HIGH]]
  // CHECK-COUNT-3: nvvm.prmt
  // CHECK: %[[ALL:.*]] = vector.from_elements
  // CHECK: %[[RESULT:.*]] = arith.subf %[[ALL]], %[[BASE]]
  // CHECK-NEXT: return %[[RESULT]]
  func.func @unsigned(%x: vector<4xi8>) -> vector<4xf32> {
    %eight = arith.constant dense<8.0> : vector<4xf32>
    %0 = arith.uitofp %x : vector<4xi8> to vector<4xf32>
    %1 = arith.subf %0, %eight : vector<4xf32>
    return %1 : vector<4xf32>
  }

  // Signed bytes are offset by 128.
  // CHECK-LABEL: func @signed
  // CHECK: arith.xori %{{.*}}, %{{.*}} : vector<1xi32>
  // CHECK-NOT: arith.sitofp
  // CHECK: arith.subf %{{.*}}, %{{.*}} : vector<4xf32>
  func.func @signed(%x: vector<4xi8>) -> vector<4xf32> {
    %0 = arith.sitofp %x : vector<4xi8> to vector<4xf32>
    return %0 : vector<4xf32>
  }

  // Bitwise operations on bytes become operations on words; bits that a shift brings in from the next byte are masked
  // out.
  // CHECK-LABEL: func @nibbles
  // CHECK-DAG: dense<4> : vector<2xi32>
  // CHECK-DAG: dense<252645135> : vector<2xi32>
  // CHECK: arith.shrui %{{.*}} : vector<2xi32>
  // CHECK: arith.andi %{{.*}} : vector<2xi32>
  // CHECK-NOT: vector<8xi8> to vector<8xi32>
  func.func @nibbles(%x: vector<8xi8>) -> vector<8xi8> {
    %four = arith.constant dense<4> : vector<8xi8>
    %0 = arith.shrui %x, %four : vector<8xi8>
    return %0 : vector<8xi8>
  }

  // Bytes inserted into words whose other bytes are known.
  // CHECK-LABEL: func @into_words
  // CHECK-COUNT-4: nvvm.prmt
  // CHECK-NOT: arith.extui
  func.func @into_words(%x: vector<4xi8>) -> vector<4xi32> {
    %by = arith.constant dense<16> : vector<4xi32>
    %high = arith.constant dense<0x43000000> : vector<4xi32>
    %0 = arith.extui %x : vector<4xi8> to vector<4xi32>
    %1 = arith.shli %0, %by : vector<4xi32>
    %2 = arith.ori %1, %high : vector<4xi32>
    return %2 : vector<4xi32>
  }

  // Bytes as the lower bytes of halves.
  // CHECK-LABEL: func @into_halves
  // CHECK: %[[WORD:.*]] = vector.extract %{{.*}}[0] : i32 from vector<1xi32>
  // CHECK: %[[LOW:.*]] = nvvm.prmt <default> %{{.*}}, %[[WORD]], %{{.*}} : i32
  // CHECK: %[[HIGH:.*]] = nvvm.prmt
  // CHECK: %[[ALL:.*]] = vector.from_elements %[[LOW]], %[[HIGH]] : vector<2xi32>
  // CHECK: vector.bitcast %[[ALL]] : vector<2xi32> to vector<4xi16>
  func.func @into_halves(%x: vector<4xi8>) -> vector<4xi16> {
    %high = arith.constant dense<0x4300> : vector<4xi16>
    %0 = arith.extui %x : vector<4xi8> to vector<4xi16>
    %1 = arith.ori %0, %high : vector<4xi16>
    return %1 : vector<4xi16>
  }

  // bf16 is the upper half of f32.
  // CHECK-LABEL: func @halves
  // CHECK: arith.shli %{{.*}} : vector<1xi32>
  // CHECK: arith.andi %{{.*}} : vector<1xi32>
  // CHECK: vector.from_elements
  // CHECK-NOT: arith.extf
  func.func @halves(%x: vector<2xbf16>) -> vector<2xf32> {
    %0 = arith.extf %x : vector<2xbf16> to vector<2xf32>
    return %0 : vector<2xf32>
  }

  // Vectors that do not fill whole words do not change.
  // CHECK-LABEL: func @others
  // CHECK: arith.uitofp %{{.*}} : vector<3xi8> to vector<3xf32>
  func.func @others(%x: vector<3xi8>) -> vector<3xf32> {
    %0 = arith.uitofp %x : vector<3xi8> to vector<3xf32>
    return %0 : vector<3xf32>
  }
}
