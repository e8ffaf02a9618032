// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-note-invariants | FileCheck %s

// Weights and other constants are never written.
// CHECK: func.func private @scale(%{{.*}}: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %{{.*}}: memref<8xf32> {relax.invariant}, %{{.*}}: memref<?xf32> {relax.shape = #relax.shape<[m]>})
func.func private @scale(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %w: memref<8xf32>, %out: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
  return
}

// Arguments of other calls count as well, and so do tensors that a call writes to.
// CHECK: func.func private @both(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>)
func.func private @both(%w: memref<8xf32>, %out: memref<8xf32>) {
  return
}

// Callers outside the module may pass anything to a public kernel, and a kernel without calls may get anything.
// CHECK: func.func @visible(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>)
func.func @visible(%w: memref<8xf32>, %out: memref<8xf32>) {
  return
}
// CHECK: func.func private @unused(%{{.*}}: memref<8xf32>)
func.func private @unused(%w: memref<8xf32>) {
  return
}

relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %out: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<8xf32>) {
  %w = relax.constant weight "w" : tensor<8xf32>
  %one = relax.constant dense<1.0> : tensor<8xf32>
  %0 = relax.call_tir_inplace @scale(%x, %w, %out) inplace [2] : (tensor<?xf32, #relax.shape<[n]>>, tensor<8xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_tir_inplace @scale(%0, %one, %out) inplace [2] : (tensor<?xf32, #relax.shape<[n]>>, tensor<8xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.call_tir_inplace @both(%w, %y) inplace [1] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = relax.call_tir_inplace @both(%2, %y) inplace [1] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = relax.call_tir_inplace @visible(%w, %y) inplace [1] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relax.return
}
