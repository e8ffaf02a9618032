// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// REQUIRES: spirv-val
// RUN: relax-opt %s -relax-gpu-bufferize=chip=subgroup_8 -o %t.mlir
// RUN: relax-translate %t.mlir --relax-to-spirv --kernel=rows -o %t.spv
// RUN: spirv-val --target-env vulkan1.2 %t.spv
// RUN: relax-translate %t.mlir --relax-to-spirv --kernel=product -o %t.spv
// RUN: spirv-val --target-env vulkan1.2 %t.spv
// RUN: relax-translate %t.mlir --relax-to-spirv --kernel=halves -o %t.spv
// RUN: spirv-val --target-env vulkan1.2 %t.spv

// Scheduled rows, matmuls and vectors lower to SPIR-V that Vulkan accepts.
func.func @rows(%x: memref<?x64xf32>, %out: memref<?xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %1 = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
       ins(%0 : tensor<?x64xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.addf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

func.func @product(%x: memref<200x?xf32>, %y: memref<?x?xf32>, %out: memref<200x?xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<200x?xf32> to tensor<200x?xf32>
  %1 = bufferization.to_tensor %y restrict : memref<?x?xf32> to tensor<?x?xf32>
  %2 = bufferization.to_tensor %out restrict writable : memref<200x?xf32> to tensor<200x?xf32>
  %zero = arith.constant 0.0 : f32
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<200x?xf32>) -> tensor<200x?xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<200x?xf32>, tensor<?x?xf32>) outs(%3 : tensor<200x?xf32>) -> tensor<200x?xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out : (tensor<200x?xf32>, memref<200x?xf32>) -> ()
  return
}

func.func @halves(%x: memref<?x64xf16>, %out: memref<?x64xf16>) {
  %0 = bufferization.to_tensor %x restrict : memref<?x64xf16> to tensor<?x64xf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<?x64xf16> to tensor<?x64xf16>
  %2 = linalg.exp ins(%0 : tensor<?x64xf16>) outs(%1 : tensor<?x64xf16>) -> tensor<?x64xf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?x64xf16>, memref<?x64xf16>) -> ()
  return
}
