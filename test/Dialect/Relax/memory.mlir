// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @storage(
relax.func @storage(%s: !relax.shape<[n]>) {
  // CHECK: %[[A:.*]] = relax.alloc_storage 512*n align 64 : !relax.storage
  %0 = relax.alloc_storage 512*n align 64 : !relax.storage
  // CHECK: %[[T:.*]] = relax.tensor_from_storage %[[A]] at 0 : !relax.storage -> tensor<?x128xf32, #relax.shape<[n, 128]>>
  %1 = relax.tensor_from_storage %0 at 0 : !relax.storage -> tensor<?x128xf32, #relax.shape<[n, 128]>>
  // CHECK: relax.tensor_from_storage %[[A]] at 256*n : !relax.storage -> tensor<f32>
  %2 = relax.tensor_from_storage %0 at 256*n : !relax.storage -> tensor<f32>
  // CHECK: relax.kill %[[T]] : tensor<?x128xf32, #relax.shape<[n, 128]>>
  relax.kill %1 : tensor<?x128xf32, #relax.shape<[n, 128]>>
  // CHECK: relax.kill %[[A]] : !relax.storage
  relax.kill %0 : !relax.storage
  relax.return
}
