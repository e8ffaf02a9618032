// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-fold-empty-tensors | FileCheck %s

// An empty sum is its initial value.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %{{.*}}: tensor<?x0xf32>, %[[OUT:.*]]: tensor<?xf32>
// CHECK:         %[[FILL:.*]] = linalg.fill {{.*}} outs(%[[OUT]]
// CHECK-NEXT:    return %[[FILL]]
func.func @sum(%x: tensor<?x0xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.reduce ins(%x : tensor<?x0xf32>) outs(%0 : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  return %1 : tensor<?xf32>
}

// -----

// In attention without keys, the weights and the values that they multiply are removed.
// CHECK-LABEL: func.func @products(
// CHECK-NOT:     linalg.matmul
// CHECK-NOT:     linalg.exp
// CHECK:         linalg.fill
// CHECK-NEXT:    return
func.func @products(%q: tensor<?x8xf32>, %k: tensor<8x0xf32>, %v: tensor<0x8xf32>, %out: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x0xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x0xf32>) -> tensor<?x0xf32>
  %s = linalg.matmul ins(%q, %k : tensor<?x8xf32>, tensor<8x0xf32>) outs(%f : tensor<?x0xf32>) -> tensor<?x0xf32>
  %w = linalg.exp ins(%s : tensor<?x0xf32>) outs(%e : tensor<?x0xf32>) -> tensor<?x0xf32>
  %o = linalg.fill ins(%zero : f32) outs(%out : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = linalg.matmul ins(%w, %v : tensor<?x0xf32>, tensor<0x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Writes of empty tensors are removed.
// CHECK-LABEL: func.func @buffers(
// CHECK-NEXT:    return
func.func @buffers(%x: memref<?x0xf32>, %out: memref<?x0xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<?x0xf32> to tensor<?x0xf32>
  %1 = bufferization.to_tensor %out restrict writable : memref<?x0xf32> to tensor<?x0xf32>
  %2 = linalg.exp ins(%0 : tensor<?x0xf32>) outs(%1 : tensor<?x0xf32>) -> tensor<?x0xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?x0xf32>, memref<?x0xf32>) -> ()
  return
}

// -----

// Empty parts of a concatenation are removed, wherever they are.
// CHECK-LABEL: func.func @joined(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xf32>, %[[Y:[^,]*]]: tensor<0x3xf32>, %[[Z:[^,]*]]: tensor<2x3xf32>
// CHECK-NEXT:    tensor.concat dim(0) %[[X]], %[[Z]] : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT:    return
func.func @joined(%x: tensor<?x3xf32>, %y: tensor<0x3xf32>, %z: tensor<2x3xf32>, %out: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tensor.concat dim(0) %x, %y, %z : (tensor<?x3xf32>, tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A padded empty tensor is only padding, from a number or from a position.
// CHECK-LABEL: func.func @padded(
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.fill {{.*}} -> tensor<4xf32>
// CHECK:         tensor.generate
// CHECK:         tensor<4xindex>
// CHECK:         return
func.func @padded(%x: tensor<0xf32>, %y: tensor<0xindex>) -> (tensor<4xf32>, tensor<4xindex>) {
  %one = arith.constant 1.0 : f32
  %0 = tensor.pad %x low[3] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<0xf32> to tensor<4xf32>
  %1 = tensor.pad %y low[3] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<0xindex> to tensor<4xindex>
  return %0, %1 : tensor<4xf32>, tensor<4xindex>
}

// -----

// Loops that provably have no iterations are removed; the bound may be the size of a tensor.
// CHECK-LABEL: func.func @loops(
// CHECK-SAME:    %{{.*}}: tensor<0xf32>, %[[OUT:.*]]: tensor<?xf32>
// CHECK-NEXT:    return %[[OUT]]
func.func @loops(%x: tensor<0xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<0xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %out) -> tensor<?xf32> {
    %v = tensor.extract %x[%i] : tensor<0xf32>
    %w = tensor.insert %v into %t[%i] : tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  %1 = scf.forall (%i, %j) in (4, 0) shared_outs(%o = %0) -> (tensor<?xf32>) {
    %e = tensor.empty() : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %1 : tensor<?xf32>
}

// -----

// Nonempty tensors stay.
// CHECK-LABEL: func.func @elements(
// CHECK:         linalg.exp
// CHECK:         return
func.func @elements(%x: tensor<?x1xf32>, %out: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = linalg.exp ins(%x : tensor<?x1xf32>) outs(%out : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}
