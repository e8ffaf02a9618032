// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=PTX

// The host chooses by the number of rows: special code for one row, then tiles of 16, 32, 64 and of many rows. Bias and
// conversion are fused into the kernels.
// CHECK-LABEL: func.func @by_rows(
// CHECK: %[[ROWS:.*]] = memref.dim %arg0, %{{.*}} : memref<?x256xbf16>
// CHECK: %[[ONE:.*]] = arith.cmpi ule, %[[ROWS]], %{{.*}} : index
// CHECK: scf.if %[[ONE]] {
// CHECK: gpu.launch
// CHECK-NOT: nvvm.mma.sync
// CHECK: } else {
// CHECK-COUNT-3: arith.cmpi ule, %[[ROWS]]
// CHECK-NOT: linalg
// CHECK: gpu.launch
// CHECK-SAME: dynamic_shared_memory_size
// CHECK: nvgpu.device_async_copy %{{.*}}, %{{.*}}, 8, %{{.*}} {bypassL1}
// CHECK: nvvm.cp.async.wait.group
// CHECK: gpu.barrier
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK: nvvm.mma.sync
// CHECK: vector.load {{.*}} : memref<128xbf16>, vector<8xbf16>
// CHECK: vector.store {{.*}} : memref<?x128xbf16>, vector<8xbf16>
// CHECK: {nvvm.minctasm = 1 : i32}
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @by_rows(%x: memref<?x256xbf16>, %w: memref<128x256xbf16>, %c: memref<128xbf16>, %out: memref<?x128xbf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x256xbf16> to tensor<?x256xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<128x256xbf16> to tensor<128x256xbf16>
  %2 = bufferization.to_tensor %c restrict : memref<128xbf16> to tensor<128xbf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<?x128xbf16> to tensor<?x128xbf16>
  %n = tensor.dim %0, %c0 : tensor<?x256xbf16>
  %4 = tensor.empty(%n) : tensor<?x128xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<?x256xbf16>, tensor<128x256xbf16>) outs(%5 : tensor<?x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %8 = arith.extf %a : bf16 to f32
    %9 = arith.extf %b : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<?x128xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%6, %2 : tensor<?x128xf32>, tensor<128xbf16>) outs(%3 : tensor<?x128xbf16>) {
  ^bb0(%a: f32, %b: bf16, %before: bf16):
    %8 = arith.truncf %a : f32 to bf16
    %9 = arith.addf %8, %b : bf16
    linalg.yield %9 : bf16
  } -> tensor<?x128xbf16>
  bufferization.materialize_in_destination %7 in restrict writable %out : (tensor<?x128xbf16>, memref<?x128xbf16>) -> ()
  return
}

// -----

// A column-major matrix is transposed when it is loaded; a static number of rows leaves no choice.
// CHECK-LABEL: func.func @by_columns(
// CHECK-NOT: scf.if
// CHECK: gpu.launch
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-NOT: gpu.launch
func.func @by_columns(%x: memref<24x64xf16>, %w: memref<64x40xf16>, %out: memref<24x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<24x64xf16> to tensor<24x64xf16>
  %1 = bufferization.to_tensor %w restrict : memref<64x40xf16> to tensor<64x40xf16>
  %2 = bufferization.to_tensor %out restrict writable : memref<24x40xf32> to tensor<24x40xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<24x64xf16>, tensor<64x40xf16>) outs(%3 : tensor<24x40xf32>) -> tensor<24x40xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out : (tensor<24x40xf32>, memref<24x40xf32>) -> ()
  return
}

// -----

// Single-precision products are exact to the last bit: no tensor cores.
// CHECK-LABEL: func.func @single(
// CHECK: gpu.launch
// CHECK-NOT: nvvm.mma.sync
// CHECK: math.fma
func.func @single(%x: memref<64x64xf32>, %w: memref<64x64xf32>, %out: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<64x64xf32> to tensor<64x64xf32>
  %1 = bufferization.to_tensor %w restrict : memref<64x64xf32> to tensor<64x64xf32>
  %2 = bufferization.to_tensor %out restrict writable : memref<64x64xf32> to tensor<64x64xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%3 : tensor<64x64xf32>) -> tensor<64x64xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
