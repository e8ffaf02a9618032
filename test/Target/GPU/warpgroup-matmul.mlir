// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize=chip=sm_90a | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize | FileCheck %s --check-prefix=ANY
// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize=chip=sm_90a -relax-cuda-to-llvm=chip=sm_90a | FileCheck %s --check-prefix=PTX

// One warp copies boxes of both matrices, with 64 rows of the first matrix for each of two warpgroups; the warpgroups
// multiply, release the stages that they have read, and then run the epilogue. Other chips cannot do this.
// ANY-NOT: wgmma
// CHECK-LABEL: func.func @whole_tiles(
// CHECK-DAG: %[[A:.*]] = builtin.unrealized_conversion_cast %arg0 : memref<2048x512xbf16> to !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16
// CHECK-DAG: %[[B:.*]] = builtin.unrealized_conversion_cast %arg1 : memref<4096x512xbf16> to !nvgpu.tensormap.descriptor<tensor = memref<256x64xbf16
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c288
// CHECK: nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 8>
// CHECK: gpu.barrier
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvgpu.mbarrier.arrive %
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: vector.store {{.*}} : memref<2048x4096xbf16>, vector<8xbf16>
// CHECK: } else {
// CHECK: nvgpu.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvgpu.tma.async.load %[[A]]
// CHECK: nvgpu.tma.async.load %[[B]]
// CHECK-NOT: cluster
// PTX: .target sm_90a
// PTX-SAME: .param .align 64 .b8 {{[a-z_0-9]*}}[128]
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// PTX-SAME: cp.async.bulk.tensor.2d
// PTX: llvm.call @relax_rt_device_tensor_map
// PTX: llvm.call @relax_rt_device_launch
func.func @whole_tiles(%x: memref<2048x512xbf16>, %w: memref<4096x512xbf16>, %out: memref<2048x4096xbf16>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<2048x512xbf16> to tensor<2048x512xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<4096x512xbf16> to tensor<4096x512xbf16>
  %2 = bufferization.to_tensor %out restrict writable : memref<2048x4096xbf16> to tensor<2048x4096xbf16>
  %3 = tensor.empty() : tensor<2048x4096xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<2048x512xbf16>, tensor<4096x512xbf16>) outs(%4 : tensor<2048x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %8 = arith.extf %a : bf16 to f32
    %9 = arith.extf %b : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<2048x4096xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2048x4096xf32>) outs(%2 : tensor<2048x4096xbf16>) {
  ^bb0(%a: f32, %before: bf16):
    %8 = arith.truncf %a : f32 to bf16
    linalg.yield %8 : bf16
  } -> tensor<2048x4096xbf16>
  bufferization.materialize_in_destination %6 in restrict writable %out : (tensor<2048x4096xbf16>, memref<2048x4096xbf16>) -> ()
  return
}

// -----

// The second matrix is column-major: boxes of 64 columns.
// CHECK-LABEL: func.func @few_tiles(
// CHECK-DAG: builtin.unrealized_conversion_cast %arg1 : memref<4096x4096xf16> to !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16
// CHECK: gpu.launch
// CHECK: nvvm.wgmma.mma_async {{.*}} A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
func.func @few_tiles(%x: memref<64x4096xf16>, %w: memref<4096x4096xf16>, %out: memref<64x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<64x4096xf16> to tensor<64x4096xf16>
  %1 = bufferization.to_tensor %w restrict : memref<4096x4096xf16> to tensor<4096x4096xf16>
  %2 = bufferization.to_tensor %out restrict writable : memref<64x4096xf32> to tensor<64x4096xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%2 : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<64x4096xf16>, tensor<4096x4096xf16>) outs(%4 : tensor<64x4096xf32>) {
  ^bb0(%a: f16, %b: f16, %sum: f32):
    %8 = arith.extf %a : f16 to f32
    %9 = arith.extf %b : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<64x4096xf32>
  bufferization.materialize_in_destination %5 in restrict writable %out : (tensor<64x4096xf32>, memref<64x4096xf32>) -> ()
  return
}

// -----

// A computed matrix has its own producer warpgroup, which loads its inputs two steps ahead and makes its stores visible
// to the tensor cores. Each block has as many rows as registers allow, so that decoded numbers are used by all of them.
// CHECK-LABEL: func.func @computed(
// CHECK: %[[ALL:.*]] = memref.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : memref<2048x16x32xbf16> into memref<2048x512xbf16>
// CHECK: builtin.unrealized_conversion_cast %[[ALL]] : memref<2048x512xbf16> to !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c640
// CHECK: nvgpu.mbarrier.init %{{.*}}[%{{.*}}], %c5
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK: } else {
// CHECK: vector.load %{{.*}} : memref<4096x16x32xi8>, vector<16xi8>
// CHECK: scf.for
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvgpu.tma.async.load
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %{{.*}} : memref<{{.*}}xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvgpu.mbarrier.arrive %
// PTX-LABEL: .entry computed
// PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// PTX: fence.proxy.async.shared::cta
func.func @computed(%x: memref<2048x16x32xbf16>, %w: memref<4096x16x32xi8>, %s: memref<4096x16xf16>, %out: memref<2048x4096xbf16>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<2048x16x32xbf16> to tensor<2048x16x32xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<4096x16x32xi8> to tensor<4096x16x32xi8>
  %2 = bufferization.to_tensor %s restrict : memref<4096x16xf16> to tensor<4096x16xf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<2048x4096xbf16> to tensor<2048x4096xbf16>
  %4 = tensor.empty() : tensor<4096x16x32xbf16>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, b, j) -> (n, b, j)>, affine_map<(n, b, j) -> (n, b)>, affine_map<(n, b, j) -> (n, b, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%1, %2 : tensor<4096x16x32xi8>, tensor<4096x16xf16>) outs(%4 : tensor<4096x16x32xbf16>) {
  ^bb0(%code: i8, %scale: f16, %before: bf16):
    %13 = arith.sitofp %code : i8 to f32
    %14 = arith.extf %scale : f16 to f32
    %15 = arith.mulf %13, %14 : f32
    %16 = arith.truncf %15 : f32 to bf16
    linalg.yield %16 : bf16
  } -> tensor<4096x16x32xbf16>
  %6 = tensor.empty() : tensor<2048x4096xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %8 = linalg.generic {
    indexing_maps = [affine_map<(i, n, b, j) -> (i, b, j)>, affine_map<(i, n, b, j) -> (n, b, j)>, affine_map<(i, n, b, j) -> (i, n)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%0, %5 : tensor<2048x16x32xbf16>, tensor<4096x16x32xbf16>) outs(%7 : tensor<2048x4096xf32>) {
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<2048x4096xf32>
  %9 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%8 : tensor<2048x4096xf32>) outs(%3 : tensor<2048x4096xbf16>) {
  ^bb0(%a: f32, %before: bf16):
    %10 = arith.truncf %a : f32 to bf16
    linalg.yield %10 : bf16
  } -> tensor<2048x4096xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out : (tensor<2048x4096xbf16>, memref<2048x4096xbf16>) -> ()
  return
}
