// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize -relax-cuda-to-llvm=chip=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: relax-opt %s -split-input-file -relax-gpu-bufferize=chip=sm_90a -relax-cuda-to-llvm=chip=sm_90a | FileCheck %s --check-prefix=SM90

// Codes, scales and rows are copied as they are. A lane reads four bytes for each of two columns, whose lower and upper
// halves are numbers of one step each: the upper byte adds 128, which is then subtracted. The scale of the group is
// applied to its sums.
// CHECK-LABEL: func.func @groups(
// CHECK: gpu.launch
// CHECK-DAG: nvgpu.device_async_copy {{.*}}, 16 {bypassL1} : memref<{{.*}}xi8> to memref<{{.*}}xi8, #gpu.address_space<workgroup>>
// CHECK-DAG: nvgpu.device_async_copy {{.*}}, 8{{.*}} : memref<{{.*}}xf16> to memref<{{.*}}xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: nvgpu.device_async_copy {{.*}}, 8{{.*}} : memref<{{.*}}xbf16> to memref<{{.*}}xbf16, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group
// CHECK: vector.load {{.*}} : memref<{{.*}}xi8, #gpu.address_space<workgroup>>, vector<4xi8>
// CHECK: %[[WIDE:.*]] = arith.extui %{{.*}} : vector<4xi8> to vector<4xi16>
// CHECK: %[[BITS:.*]] = arith.ori %[[WIDE]], %{{.*}} : vector<4xi16>
// CHECK: %[[ABOVE:.*]] = arith.bitcast %[[BITS]] : vector<4xi16> to vector<4xbf16>
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[ABOVE]] : vector<4xbf16>
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-COUNT-4: math.fma {{.*}} : f32
// CHECK-NOT: nvvm.mma.sync {{.*}} linalg
// PTX-LABEL: .entry groups
// PTX: cp.async.cg.shared.global
// PTX: ld.shared.b32
// PTX: prmt.b32
// PTX: fma.rn.bf16x2
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// SM90: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
#codes = affine_map<(n, b, h, j) -> (n, b, j)>
#scales = affine_map<(n, b, h, j) -> (n, b)>
#all = affine_map<(n, b, h, j) -> (n, b, h, j)>
func.func @groups(%x: memref<12x64x2x16xbf16>, %w: memref<512x64x16xi8>, %s: memref<512x64xf16>, %out: memref<12x512xbf16>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<12x64x2x16xbf16> to tensor<12x64x2x16xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<512x64x16xi8> to tensor<512x64x16xi8>
  %2 = bufferization.to_tensor %s restrict : memref<512x64xf16> to tensor<512x64xf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<12x512xbf16> to tensor<12x512xbf16>
  %4 = tensor.empty() : tensor<512x64x2x16xbf16>
  %5 = linalg.generic {
    indexing_maps = [#codes, #scales, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%1, %2 : tensor<512x64x16xi8>, tensor<512x64xf16>) outs(%4 : tensor<512x64x2x16xbf16>) {
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
  } -> tensor<512x64x2x16xbf16>
  %6 = tensor.empty() : tensor<12x512xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<12x512xf32>) -> tensor<12x512xf32>
  %8 = linalg.generic {
    indexing_maps = [affine_map<(i, n, b, h, j) -> (i, b, h, j)>, affine_map<(i, n, b, h, j) -> (n, b, h, j)>,
                     affine_map<(i, n, b, h, j) -> (i, n)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%0, %5 : tensor<12x64x2x16xbf16>, tensor<512x64x2x16xbf16>) outs(%7 : tensor<12x512xf32>) {
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<12x512xf32>
  %9 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%8 : tensor<12x512xf32>) outs(%3 : tensor<12x512xbf16>) {
  ^bb0(%a: f32, %before: bf16):
    %10 = arith.truncf %a : f32 to bf16
    linalg.yield %10 : bf16
  } -> tensor<12x512xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out : (tensor<12x512xbf16>, memref<12x512xbf16>) -> ()
  return
}

// -----

// bf16 can represent all 8-bit floats, so no group is needed. GPUs from sm_89 on convert them in hardware.
// CHECK-LABEL: func.func @floats(
// CHECK: vector.load {{.*}} : memref<{{.*}}xf8E4M3FN, #gpu.address_space<workgroup>>, vector<8xf8E4M3FN>
// CHECK: arith.extf %{{.*}} : vector<8xf8E4M3FN> to vector<8xbf16>
// CHECK: nvvm.mma.sync
// PTX-LABEL: .entry floats
// PTX-NOT: e4m3
// PTX: mma.sync.aligned.m16n8k16
// SM90-LABEL: .entry floats
// SM90: cvt.rn.f16x2.e4m3x2
// SM90: mma.sync.aligned.m16n8k16
func.func @floats(%x: memref<8x512xbf16>, %w: memref<512x512xf8E4M3FN>, %s: memref<512xf32>, %out: memref<8x512xbf16>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<8x512xbf16> to tensor<8x512xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<512x512xf8E4M3FN> to tensor<512x512xf8E4M3FN>
  %2 = bufferization.to_tensor %s restrict : memref<512xf32> to tensor<512xf32>
  %3 = bufferization.to_tensor %out restrict writable : memref<8x512xbf16> to tensor<8x512xbf16>
  %4 = tensor.empty() : tensor<512x512xbf16>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(j, k) -> (j, k)>, affine_map<(j, k) -> (j, k)>], iterator_types = ["parallel", "parallel"]
  } ins(%1 : tensor<512x512xf8E4M3FN>) outs(%4 : tensor<512x512xbf16>) {
  ^bb0(%code: f8E4M3FN, %before: bf16):
    %10 = arith.extf %code : f8E4M3FN to bf16
    linalg.yield %10 : bf16
  } -> tensor<512x512xbf16>
  %6 = tensor.empty() : tensor<8x512xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<8x512xf32>) -> tensor<8x512xf32>
  %8 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%0, %5 : tensor<8x512xbf16>, tensor<512x512xbf16>) outs(%7 : tensor<8x512xf32>) {
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<8x512xf32>
  %9 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%8, %2 : tensor<8x512xf32>, tensor<512xf32>) outs(%3 : tensor<8x512xbf16>) {
  ^bb0(%a: f32, %scale: f32, %before: bf16):
    %10 = arith.mulf %a, %scale : f32
    %11 = arith.truncf %10 : f32 to bf16
    linalg.yield %11 : bf16
  } -> tensor<8x512xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out : (tensor<8x512xbf16>, memref<8x512xbf16>) -> ()
  return
}
