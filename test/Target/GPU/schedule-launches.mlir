// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-gpu-schedule-launches | FileCheck %s

// A thread for each vector of 16 bytes if rows are whole vectors; the accesses are aligned.
// CHECK-LABEL: func.func @points(
// CHECK: gpu.launch
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: scf.if %[[INSIDE]]
// CHECK: vector.load %arg0[%{{.*}}] {alignment = 16 : i64} : memref<4096xbf16>, vector<8xbf16>
// CHECK: vector.store %{{.*}}, %arg1[%{{.*}}] {alignment = 16 : i64} : memref<4096xbf16>, vector<8xbf16>
func.func @points(%x: memref<4096xbf16>, %out: memref<4096xbf16>) {
  %0 = bufferization.to_tensor %x restrict : memref<4096xbf16> to tensor<4096xbf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<4096xbf16> to tensor<4096xbf16>
  %2 = linalg.add ins(%0, %0 : tensor<4096xbf16>, tensor<4096xbf16>) outs(%1 : tensor<4096xbf16>) -> tensor<4096xbf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<4096xbf16>, memref<4096xbf16>) -> ()
  return
}

// -----

// A thread processes the remainder of a flat nest one element at a time.
// CHECK-LABEL: func.func @points_left_over(
// CHECK: gpu.launch
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %c8
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %c8
// CHECK: %[[WHOLE:.*]] = arith.cmpi ule, %[[END]], %[[SIZE:.*]] : index
// CHECK: scf.if %[[WHOLE]]
// CHECK: vector.load %arg0[%{{.*}}] {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// CHECK: else
// CHECK: scf.for %[[AT:.*]] = %[[BEGIN]] to %[[SIZE]]
// CHECK: memref.load %arg0[%[[AT]]] : memref<?xbf16>
func.func @points_left_over(%x: memref<?xbf16>, %out: memref<?xbf16>) {
  %0 = bufferization.to_tensor %x restrict : memref<?xbf16> to tensor<?xbf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<?xbf16> to tensor<?xbf16>
  %2 = linalg.add ins(%0, %0 : tensor<?xbf16>, tensor<?xbf16>) outs(%1 : tensor<?xbf16>) -> tensor<?xbf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?xbf16>, memref<?xbf16>) -> ()
  return
}

// -----

// Whole rows are whole vectors, however many there are.
// CHECK-LABEL: func.func @points_of_rows(
// CHECK: gpu.launch
// CHECK: scf.if
// CHECK: vector.load %{{.*}}[%{{.*}}] {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// CHECK-NOT: memref.load
// CHECK: return
func.func @points_of_rows(%x: memref<?x24xbf16>, %out: memref<?x24xbf16>) {
  %0 = bufferization.to_tensor %x restrict : memref<?x24xbf16> to tensor<?x24xbf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<?x24xbf16> to tensor<?x24xbf16>
  %2 = linalg.add ins(%0, %0 : tensor<?x24xbf16>, tensor<?x24xbf16>) outs(%1 : tensor<?x24xbf16>) -> tensor<?x24xbf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?x24xbf16>, memref<?x24xbf16>) -> ()
  return
}

// -----

// Consecutive lanes are all on one side of a multiple of their number: halves are swapped as vectors.
// CHECK-LABEL: func.func @halves(
// CHECK: gpu.launch
// CHECK: %[[UPPER:.*]] = arith.cmpi uge, %[[AT:.*]], %c16{{.*}} : index
// CHECK: %[[OTHER:.*]] = arith.select %[[UPPER]], %{{.*}}, %{{.*}} : index
// CHECK: vector.load %arg0[%{{.*}}, %[[OTHER]]] {alignment = 16 : i64} : memref<?x32xbf16>, vector<8xbf16>
func.func @halves(%x: memref<?x32xbf16>, %out: memref<?x32xbf16>) {
  %c16 = arith.constant 16 : index
  %0 = bufferization.to_tensor %x restrict : memref<?x32xbf16> to tensor<?x32xbf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<?x32xbf16> to tensor<?x32xbf16>
  %2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } outs(%1 : tensor<?x32xbf16>) {
  ^bb0(%before: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %3 = arith.cmpi uge, %j, %c16 : index
    %4 = arith.subi %j, %c16 : index
    %5 = arith.addi %j, %c16 : index
    %6 = arith.select %3, %4, %5 : index
    %7 = tensor.extract %0[%i, %6] : tensor<?x32xbf16>
    linalg.yield %7 : bf16
  } -> tensor<?x32xbf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?x32xbf16>, memref<?x32xbf16>) -> ()
  return
}

// -----

// Gathers are replaced by scalar loads.
// CHECK-LABEL: func.func @reversed(
// CHECK: gpu.launch
// CHECK-NOT: vector
// CHECK: memref.load %arg0[%{{.*}}] : memref<32xbf16>
// CHECK-NOT: vector
// CHECK: return
func.func @reversed(%x: memref<32xbf16>, %out: memref<32xbf16>) {
  %c31 = arith.constant 31 : index
  %0 = bufferization.to_tensor %x restrict : memref<32xbf16> to tensor<32xbf16>
  %1 = bufferization.to_tensor %out restrict writable : memref<32xbf16> to tensor<32xbf16>
  %2 = linalg.generic {
    indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]
  } outs(%1 : tensor<32xbf16>) {
  ^bb0(%before: bf16):
    %j = linalg.index 0 : index
    %3 = arith.subi %c31, %j : index
    %4 = tensor.extract %0[%3] : tensor<32xbf16>
    linalg.yield %4 : bf16
  } -> tensor<32xbf16>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<32xbf16>, memref<32xbf16>) -> ()
  return
}

// -----

// A block for each row: threads sum contiguous elements, exchange their sums, and one of them writes.
// CHECK-LABEL: func.func @rows(
// CHECK: gpu.launch {{.*}} workgroup(%{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK: vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x2048xf32>, vector<4xf32>
// CHECK: vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x2048xf32>, vector<4xf32>
// CHECK-NOT: scf.for
// CHECK: vector.reduction <add>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %arg1[%{{.*}}] : memref<?xf32>
func.func @rows(%x: memref<?x2048xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x2048xf32> to tensor<?x2048xf32>
  %n = tensor.dim %0, %c0 : tensor<?x2048xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%0 : tensor<?x2048xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %4 = arith.addf %sum, %a : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// A short row is computed by one subgroup, four rows to a block: no memory is shared, and the loads of a thread are
// issued together. Threads without a last step, and subgroups without a row, repeat the work of others and discard it.
// CHECK-LABEL: func.func @short_rows(
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK-NOT: workgroup
// CHECK: %[[ROW:.*]] = arith.minui
// CHECK-COUNT-2: vector.load %arg0[%[[ROW]], %{{.*}}]
// CHECK: %[[ON:.*]] = arith.cmpi ult, %{{.*}}, %c48
// CHECK: arith.select %[[ON]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: memref.store %{{.*}}, %arg1[%[[ROW]]] : memref<?xf32>
func.func @short_rows(%x: memref<?x192xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x192xf32> to tensor<?x192xf32>
  %n = tensor.dim %0, %c0 : tensor<?x192xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%0 : tensor<?x192xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %4 = arith.addf %sum, %a : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// A block for a few columns with long sums: its threads compute parts of each sum, and add them in shared memory.
// CHECK-LABEL: func.func @columns(
// CHECK: gpu.launch {{.*}} workgroup(%[[PARTS:.*]] : memref<{{.*}}xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for
// CHECK: vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x64xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: vector.load %[[PARTS]]
func.func @columns(%x: memref<?x64xf32>, %out: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %1 = tensor.empty() : tensor<64xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<64xf32>) -> tensor<64xf32>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%0 : tensor<?x64xf32>) outs(%2 : tensor<64xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %4 = arith.addf %sum, %a : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
