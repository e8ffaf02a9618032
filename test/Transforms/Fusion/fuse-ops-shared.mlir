// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-fuse-ops=share-operands=true | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-fuse-ops | FileCheck %s --check-prefix=ALONE

// With `share-operands`, two products of one operand that are multiplied form one group.
// CHECK-LABEL: relax.func @gated
// CHECK-NEXT: %[[ALL:.*]] = relax.call pure @fused_a_a_multiply(%arg0, %arg1, %arg2)
// CHECK-NEXT: relax.return %[[ALL]]
// ALONE-LABEL: relax.func @gated
// ALONE: relax.call_tir @a
// ALONE: relax.call pure @fused_a_multiply
relax.func @gated(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_tir @a(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @a(%x, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @multiply(%0, %1) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %2 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}
func.func private @a(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @multiply(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %z: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %0 = linalg.mul ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Products of different operands do not form a group.
// CHECK-LABEL: relax.func @apart
// CHECK: relax.call_tir @a
// CHECK: relax.call pure @fused_a_multiply
relax.func @apart(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %y: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
  %0 = relax.call_tir @a(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @a(%y, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @multiply(%0, %1) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %2 : tensor<?x8xf32, #relax.shape<[n, 8]>>
}
func.func private @a(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @multiply(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %z: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %0 = linalg.mul ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
