// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-lower-to-host=device=cuda | FileCheck %s

!t = tensor<?xf32, #relax.shape<[n]>>

// A host-only function uses no device (0); a device function (2) also has host parts (65536).
// CHECK: @relax.words{{.*}}dense<[1, 1, 3, 3, 0, 4, 2, 32, 0, 1, -1, 4, 2, 32, 0, 1, -1]>
// CHECK: @relax.words{{.*}}dense<[1, 2, 3, 6, 65538, 4, 2, 32, 512, 1, -1, 4, 2, 32, 512, 1, -1, 4, 2, 32, 512, 1, 2]>

// A weight used on both sides has an entry for each: f32 (2, 32), on the device (512) and on the host.
// CHECK: llvm.mlir.global internal constant @relax.weight_types(dense<[2, 4, 2, 32, 512, 1, 2, 4, 2, 32, 0, 1, 2]>
// CHECK: llvm.mlir.global internal @relax.weights{{.*}}!llvm.array<1 x ptr>

// Memory is allocated on the side that needs it, and the copy knows both sides.
// CHECK-LABEL: func.func private @relax.graph.main
// CHECK: llvm.call @relax_rt_alloc(
// CHECK: llvm.call @relax_rt_call_library(
// CHECK: call @relax.graph.host(
// CHECK: llvm.call @relax_rt_device_alloc(
// CHECK: llvm.call @relax_rt_call_library(
relax.func @main(%x: !t) -> (!t, tensor<2xf32>) {
  %w = relax.constant weight "w" : tensor<2xf32>
  %s = relax.alloc_storage 4*n align 64 {relax.device = "host"} : !relax.storage
  %0 = relax.tensor_from_storage %s at 0 : !relax.storage -> !t
  %1 = relax.call_library_inplace "relax.copy"(%x, %0) inplace [1] {relax.device = "host"} : (!t, !t) -> !t
  %2:2 = relax.call @host(%1) : (!t) -> (!t, i1)
  %d = relax.alloc_storage 4*n align 64 {relax.device = "device"} : !relax.storage
  %3 = relax.tensor_from_storage %d at 0 : !relax.storage -> !t
  %4 = relax.call_library_inplace "relax.copy"(%2#0, %3) inplace [1] {relax.device = "device"} : (!t, !t) -> !t
  relax.return %4, %w : !t, tensor<2xf32>
}

// On the host, elements are read directly, and constants are part of the code.
// CHECK-LABEL: func.func private @relax.graph.host
// CHECK-NOT: relax_rt_device
// CHECK: memref.load
// CHECK-NOT: relax_rt_device
// CHECK: return
relax.func private @host(%x: !t) -> (!t, i1) attributes {relax.device = "host"} {
  %w = relax.constant weight "w" : tensor<2xf32>
  %c = relax.constant dense<true> : tensor<i1>
  %t = arith.constant true
  %f = arith.constant false
  %0 = relax.if %c : tensor<i1> -> i1 {
    relax.yield %t : i1
  } else {
    relax.yield %f : i1
  }
  relax.return %x, %0 : !t, i1
}

relax.func @alone(%x: !t) -> !t attributes {relax.device = "host"} {
  relax.return %x : !t
}
