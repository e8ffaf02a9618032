// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-fuse-siblings | FileCheck %s
// RUN: relax-opt %s -split-input-file -relax-fuse-siblings -relax-fuse-tir | FileCheck %s --check-prefix=FUSED

// Products of one operand become one call at the place of the first product; a product that depends on another one
// stays separate.
// CHECK-LABEL: relax.func @main
// CHECK: %[[BOTH:.*]]:2 = relax.call pure @fused_a_b(%arg0, %arg1, %arg2)
// CHECK: relax.call_tir @c(%[[BOTH]]#0, %arg3)
// CHECK: relax.return %[[BOTH]]#1
// CHECK: relax.func private @fused_a_b{{.*}} attributes {pure, relax.primitive}
// FUSED-LABEL: relax.func @main
// FUSED: %[[BOTH:.*]]:2 = relax.call_tir @fused_a_b(%arg0, %arg1, %arg2)
// FUSED: func.func private @fused_a_b({{.*}}) -> (tensor<?x8xf32> {{.*}}, tensor<?x6xf32> {{.*}})
relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x8xf32>, %w: tensor<8x6xf32>, %u: tensor<8x8xf32>) -> (tensor<?x6xf32, #relax.shape<[n, 6]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) {
  %0 = relax.call_tir @a(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir @c(%0, %u) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.call_tir @b(%x, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x6xf32>) -> tensor<?x6xf32, #relax.shape<[n, 6]>>
  relax.return %2, %1 : tensor<?x6xf32, #relax.shape<[n, 6]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>
}
func.func private @a(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @b(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x6xf32>, %y: tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>})
    -> (tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x6xf32>) outs(%0 : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %1 : tensor<?x6xf32>
}
func.func private @c(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// Nothing moves across a write, which may overwrite an operand.
// CHECK-LABEL: relax.func @written
// CHECK: relax.call_tir @a
// CHECK: relax.call_tir_inplace
// CHECK: relax.call_tir @b
relax.func @written(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x8xf32>, %w: tensor<8x6xf32>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>, tensor<8x6xf32>) {
  %0 = relax.call_tir @a(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.call_tir_inplace @set(%w) inplace [0] : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = relax.call_tir @b(%x, %1) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x6xf32>) -> tensor<?x6xf32, #relax.shape<[n, 6]>>
  relax.return %0, %2, %1 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>, tensor<8x6xf32>
}
func.func private @a(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @b(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x6xf32>, %y: tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>})
    -> (tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x6xf32>) outs(%0 : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %1 : tensor<?x6xf32>
}
func.func private @set(%w: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%w : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Nothing moves across ops that define a symbol either.
// CHECK-LABEL: relax.func @defined
// CHECK: relax.call_tir @a
// CHECK: relax.match_cast
// CHECK: relax.call_tir @a
relax.func @defined(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x8xf32>, %w: tensor<?x8xf32>) -> (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>) {
  %0 = relax.call_tir @a(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.match_cast %w : (tensor<?x8xf32>) -> tensor<8x8xf32>
  %2 = relax.call_tir @a(%x, %1) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return %0, %2 : tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x8xf32, #relax.shape<[n, 8]>>
}
func.func private @a(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %w: tensor<8x8xf32>, %y: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>})
    -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
