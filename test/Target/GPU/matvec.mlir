// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-bufferize | FileCheck %s
// RUN: relax-opt %s -relax-gpu-bufferize | FileCheck %s --check-prefix=TILE
// RUN: relax-opt %s -relax-gpu-bufferize -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=PTX

// For one row, a thread processes a group of each of eight columns. It reads the bytes of a group once for both halves,
// loads all of the matrix before it computes, and the elements of the row after that; bytes become floats with 128
// added, which is subtracted from the sum, where the scale is applied as well.
// CHECK-LABEL: func.func @matmul(
// CHECK: scf.if
// CHECK: gpu.launch
// CHECK-NOT: scf.for
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 16 : i64} : memref<4096x128x16xi8>, vector<16xi8>
// CHECK-NOT: memref<4096x128x16xi8>
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<?x128x2x16xbf16>, vector<16xbf16>
// CHECK-NOT: vector.load
// CHECK: vector.reduction <add>
// CHECK: %[[WIDE:.*]] = arith.extui %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: arith.shli %[[WIDE]]
// CHECK-COUNT-16: math.fma
// CHECK: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: nvvm.minctasm

// For several rows, the matrix goes through registers to shared memory: it is loaded before the product of the previous
// stage, and stored after that.
// TILE: nvgpu.device_async_copy
// TILE: nvvm.cp.async.wait.group
// TILE: vector.load %{{.*}} : memref<4096x128x16xi8>, vector<16xi8>
// TILE: nvvm.mma.sync
// TILE: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// TILE: vector.store %{{.*}} : memref<{{.*}}xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
// TILE: scf.yield

// PTX: ld.global.v4
// PTX: prmt.b32
// PTX: fma.rn.f32
#codes = affine_map<(n, b, h, j) -> (n, b, j)>
#scales = affine_map<(n, b, h, j) -> (n, b)>
#all = affine_map<(n, b, h, j) -> (n, b, h, j)>
func.func @matmul(%x: memref<?x128x2x16xbf16>, %w: memref<4096x128x16xi8>, %s: memref<4096x128xf16>,
                  %out: memref<?x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x128x2x16xbf16> to tensor<?x128x2x16xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<4096x128x16xi8> to tensor<4096x128x16xi8>
  %2 = bufferization.to_tensor %s restrict : memref<4096x128xf16> to tensor<4096x128xf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<?x4096xbf16> to tensor<?x4096xbf16>
  %4 = tensor.empty() : tensor<4096x128x2x16xbf16>
  %5 = linalg.generic {
    indexing_maps = [#codes, #scales, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%1, %2 : tensor<4096x128x16xi8>, tensor<4096x128xf16>) outs(%4 : tensor<4096x128x2x16xbf16>) {
  ^bb0(%code: i8, %scale: f16, %before: bf16):
    %half = linalg.index 2 : index
    %first = arith.constant 0 : index
    %four = arith.constant 4 : i8
    %fifteen = arith.constant 15 : i8
    %eight = arith.constant 8.0 : f32
    %high = arith.shrui %code, %four : i8
    %low = arith.andi %code, %fifteen : i8
    %is_low = arith.cmpi eq, %half, %first : index
    %nibble = arith.select %is_low, %low, %high : i8
    %12 = arith.uitofp %nibble : i8 to f32
    %13 = arith.subf %12, %eight : f32
    %14 = arith.extf %scale : f16 to f32
    %15 = arith.mulf %13, %14 : f32
    %16 = arith.truncf %15 : f32 to bf16
    linalg.yield %16 : bf16
  } -> tensor<4096x128x2x16xbf16>
  %m = tensor.dim %0, %c0 : tensor<?x128x2x16xbf16>
  %6 = tensor.empty(%m) : tensor<?x4096xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %8 = linalg.generic {
    indexing_maps = [affine_map<(i, n, b, h, j) -> (i, b, h, j)>, affine_map<(i, n, b, h, j) -> (n, b, h, j)>,
                     affine_map<(i, n, b, h, j) -> (i, n)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%0, %5 : tensor<?x128x2x16xbf16>, tensor<4096x128x2x16xbf16>) outs(%7 : tensor<?x4096xf32>) {
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<?x4096xf32>
  %9 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%8 : tensor<?x4096xf32>) outs(%3 : tensor<?x4096xbf16>) {
  ^bb0(%a: f32, %before: bf16):
    %10 = arith.truncf %a : f32 to bf16
    linalg.yield %10 : bf16
  } -> tensor<?x4096xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out
      : (tensor<?x4096xbf16>, memref<?x4096xbf16>) -> ()
  return
}
