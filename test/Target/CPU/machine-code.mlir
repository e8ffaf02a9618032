// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-cpu-to-llvm | relax-translate --relax-to-assembly --target=x86_64-linux-gnu:znver4 | FileCheck %s --check-prefix=ZEN4
// RUN: relax-opt %s -relax-cpu-to-llvm | relax-translate --relax-to-assembly --target=x86_64-linux-gnu:haswell | FileCheck %s --check-prefix=HASWELL
// RUN: relax-opt %s -relax-cpu-to-llvm | relax-translate --relax-to-assembly --target=aarch64-linux-gnu | FileCheck %s --check-prefix=ARM
// RUN: relax-opt %s -relax-cpu-to-llvm | not relax-translate --relax-to-object --target=unknown-linux 2>&1 | FileCheck %s --check-prefix=ERROR

// A vector in the registers of each target.
// ZEN4-LABEL: kernel:
// ZEN4:         vfmadd{{.*}}zmm
// HASWELL-LABEL: kernel:
// HASWELL:      vfmadd{{.*}}ymm
// ARM-LABEL:  kernel:
// ARM:          fmla {{.*}}.4s
// ERROR: error: no code for target 'unknown-linux'
func.func @kernel(%x: memref<?xf32>, %i: index) {
  %0 = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %1 = vector.fma %0, %0, %0 : vector<16xf32>
  vector.store %1, %x[%i] : memref<?xf32>, vector<16xf32>
  return
}

// The conversion of AVX512-BF16 takes subnormal numbers for zero, so it is not
// used; a shift rounds instead.
// ZEN4-LABEL: to_bf16:
// ZEN4-NOT:     vcvtneps2bf16
// ZEN4:         vpsrld $16
// ZEN4:         vpmovdw
func.func @to_bf16(%x: memref<?xf32>, %y: memref<?xbf16>, %i: index) {
  %0 = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %1 = arith.truncf %0 : vector<16xf32> to vector<16xbf16>
  vector.store %1, %y[%i] : memref<?xbf16>, vector<16xbf16>
  return
}
