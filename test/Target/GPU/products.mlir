// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-schedule-launches | FileCheck %s

// Independent products of one operand are merged into one launch that starts with the blocks of the first product, for
// few rows as well as for many.
// CHECK-LABEL: func.func @siblings(
// CHECK: %[[ROWS:.*]] = memref.dim %arg0
// CHECK: arith.cmpi ule, %[[ROWS]], %c1
// CHECK: %[[ALL:.*]] = arith.addi %[[FIRST:.*]], %{{.*}}
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[ALL]]
// CHECK-NEXT: %[[IS_FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NOT: %arg2
// CHECK: memref.store {{.*}}, %arg3
// CHECK: } else {
// CHECK-DAG: %[[BEFORE:.+]] = arith.index_castui %[[FIRST]] : index to i32
// CHECK-DAG: %[[NUMBER:.+]] = arith.index_castui %[[BLOCK]] : index to i32
// CHECK: arith.subi %[[NUMBER]], %[[BEFORE]] : i32
// CHECK: vector.load %arg2
// CHECK: memref.store {{.*}}, %arg4
// CHECK-NOT: gpu.launch
// CHECK: } else {
// CHECK: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: } else {
func.func @siblings(%x: memref<?x512xbf16>, %v: memref<64x512xbf16>, %w: memref<96x512xbf16>,
                    %y: memref<?x64xf32>, %z: memref<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x restrict : memref<?x512xbf16> to tensor<?x512xbf16>
  %b = bufferization.to_tensor %v restrict : memref<64x512xbf16> to tensor<64x512xbf16>
  %c = bufferization.to_tensor %w restrict : memref<96x512xbf16> to tensor<96x512xbf16>
  %m = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<?x512xbf16>, tensor<64x512xbf16>) outs(%s0 : tensor<?x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x96xf32>
  %s1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x96xf32>) -> tensor<?x96xf32>
  %r1 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %c : tensor<?x512xbf16>, tensor<96x512xbf16>) outs(%s1 : tensor<?x96xf32>) {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x96xf32>
  bufferization.materialize_in_destination %r0 in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  bufferization.materialize_in_destination %r1 in restrict writable %z : (tensor<?x96xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

// Products of one operand that are combined element by element are computed in one pass for a single row, with no
// memory in between; for more rows, the first product is stored.
// CHECK-LABEL: func.func @gated(
// CHECK: %[[KEPT:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x64xf32>
// CHECK: arith.cmpi ule, %{{.*}}, %c1
// CHECK: gpu.launch
// CHECK-NOT: %[[KEPT]]
// CHECK: arith.mulf
// CHECK: memref.store {{.*}}, %arg3
// CHECK: } else {
// CHECK: gpu.launch
// CHECK: vector.store {{.*}}, %[[KEPT]]
// CHECK: gpu.launch
// CHECK: vector.load %[[KEPT]]
func.func @gated(%x: memref<?x512xbf16>, %v: memref<64x512xbf16>, %w: memref<64x512xbf16>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x restrict : memref<?x512xbf16> to tensor<?x512xbf16>
  %b = bufferization.to_tensor %v restrict : memref<64x512xbf16> to tensor<64x512xbf16>
  %c = bufferization.to_tensor %w restrict : memref<64x512xbf16> to tensor<64x512xbf16>
  %m = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r0 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<?x512xbf16>, tensor<64x512xbf16>) outs(%s : tensor<?x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  %r1 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %c : tensor<?x512xbf16>, tensor<64x512xbf16>) outs(%s : tensor<?x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  %d = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %r = linalg.mul ins(%r0, %r1 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%d : tensor<?x64xf32>) -> tensor<?x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
