// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-schedule-launches -canonicalize | FileCheck %s

// Four rows, the heads of a group, are computed point by point, with the columns split among as many blocks as are
// useful; their results are then combined. More rows use tensor cores. No buffer holds scores.
// CHECK-LABEL: func.func @attend(
// CHECK-NOT: memref.alloc({{.*}}?
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<540672xf32>
// CHECK: arith.cmpi ule, %{{.*}}, %c4
// CHECK: scf.if
// CHECK: gpu.launch
// CHECK-SAME: dynamic_shared_memory_size
// The loads of values are issued before the keys arrive.
// CHECK-COUNT-4: memref.prefetch
// CHECK-COUNT-4: vector.load {{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: vector.load {{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// CHECK: gpu.shuffle xor
// CHECK: math.exp2 {{.*}} fastmath<afn>
// CHECK: arith.cmpi ne
// CHECK: scf.if
// CHECK: gpu.launch
// CHECK: } else {
// CHECK: gpu.launch
// CHECK: nvgpu.device_async_copy
// CHECK: scf.for
// CHECK: nvgpu.ldmatrix {{.*}} transpose = false
// CHECK: nvvm.mma.sync
// Columns beyond a row are skipped, and contribute nothing if other rows of the block see them.
// CHECK: arith.cmpi sle
// CHECK: math.exp2
// CHECK: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: nvgpu.ldmatrix {{.*}} transpose = true
// CHECK: nvvm.mma.sync
func.func @attend(%q: memref<?x4x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %out: memref<?x4x64xbf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -1.0e29 : f32
  %hidden = arith.constant -1.0e30 : f32
  %0 = bufferization.to_tensor %q restrict : memref<?x4x64xbf16> to tensor<?x4x64xbf16>
  %1 = bufferization.to_tensor %k restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %2 = bufferization.to_tensor %v restrict : memref<?x64xbf16> to tensor<?x64xbf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<?x4x64xbf16> to tensor<?x4x64xbf16>
  %n = tensor.dim %0, %c0 : tensor<?x4x64xbf16>
  %m = tensor.dim %1, %c0 : tensor<?x64xbf16>
  %e0 = tensor.empty(%n, %m) : tensor<?x4x?xf32>
  %e1 = tensor.empty(%n) : tensor<?x4xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(i, g, j, d) -> (i, g, d)>, affine_map<(i, g, j, d) -> (j, d)>, affine_map<(i, g, j, d) -> (i, g, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<?x4x64xbf16>, tensor<?x64xbf16>) outs(%s0 : tensor<?x4x?xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %z = arith.mulf %x, %y : f32
    %w = arith.addf %sum, %z : f32
    linalg.yield %w : f32
  } -> tensor<?x4x?xf32>
  %s2 = linalg.generic {indexing_maps = [affine_map<(i, g, j) -> (i, g, j)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%s1 : tensor<?x4x?xf32>) {
  ^bb0(%s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %x = arith.select %seen, %s, %hidden : f32
    linalg.yield %x : f32
  } -> tensor<?x4x?xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(i, g, j) -> (i, g, j)>, affine_map<(i, g, j) -> (i, g)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s2 : tensor<?x4x?xf32>) outs(%m0 : tensor<?x4xf32>) {
  ^bb0(%s: f32, %most: f32):
    %x = arith.maximumf %most, %s : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, g, j) -> (i, g)>, affine_map<(i, g, j) -> (i, g, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%max : tensor<?x4xf32>) outs(%s2 : tensor<?x4x?xf32>) {
  ^bb0(%most: f32, %s: f32):
    %d = arith.subf %s, %most : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<?x4x?xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(i, g, j) -> (i, g, j)>, affine_map<(i, g, j) -> (i, g)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<?x4x?xf32>) outs(%t0 : tensor<?x4xf32>) {
  ^bb0(%s: f32, %sum: f32):
    %x = arith.addf %sum, %s : f32
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %y1 = linalg.generic {indexing_maps = [affine_map<(i, g, d, j) -> (i, g, j)>, affine_map<(i, g, d, j) -> (j, d)>, affine_map<(i, g, d, j) -> (i, g, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %2 : tensor<?x4x?xf32>, tensor<?x64xbf16>) outs(%y0 : tensor<?x4x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %sum: f32):
    %y = arith.extf %b : bf16 to f32
    %z = arith.mulf %a, %y : f32
    %w = arith.addf %sum, %z : f32
    linalg.yield %w : f32
  } -> tensor<?x4x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, g, d) -> (i, g)>, affine_map<(i, g, d) -> (i, g, d)>, affine_map<(i, g, d) -> (i, g, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%total, %y1 : tensor<?x4xf32>, tensor<?x4x64xf32>) outs(%3 : tensor<?x4x64xbf16>) {
  ^bb0(%sum: f32, %y: f32, %before: bf16):
    %x = arith.divf %y, %sum : f32
    %z = arith.truncf %x : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<?x4x64xbf16>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x4x64xbf16>, memref<?x4x64xbf16>) -> ()
  return
}
