// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Before a kernel on the host, its clock is started if the first word of the context says so; the poll after it stops
// the clock. Kernels on devices, which go on after the call, are not timed.

// RUN: relax-opt %s -relax-lower-to-host | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: relax-opt %s -relax-lower-to-host=device=cuda | FileCheck %s --check-prefixes=CHECK,DEVICE

// HOST: llvm.func @relax_rt_begin_kernel(!llvm.ptr, !llvm.ptr) attributes {passthrough = ["cold"]}
// HOST: @[[NAMES:relax.string.*]]("exp\00main\00model.py:3:5\00")
// DEVICE-NOT: relax_rt_begin_kernel

// An empty tensor needs neither the kernel nor a clock.
// CHECK-LABEL: func.func private @relax.graph.main(
// CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr
// HOST: } else {
// HOST-NEXT: %[[WORD:.*]] = llvm.load %[[CONTEXT]] : !llvm.ptr -> i32
// HOST: %[[TIMED:.*]] = arith.cmpi ne, %[[WORD]]
// HOST-NEXT: scf.if %[[TIMED]] {
// HOST-NEXT: %[[PLACE:.*]] = llvm.mlir.addressof @[[NAMES]]
// HOST-NEXT: llvm.call @relax_rt_begin_kernel(%[[CONTEXT]], %[[PLACE]])
// HOST-NEXT: }
// CHECK: call @relax.kernel.exp(
// CHECK-NEXT: }
// CHECK-NEXT: llvm.call @relax_rt_poll(%[[CONTEXT]])
func.func private @exp(%x: memref<?xf32> {relax.shape = #relax.shape<[n]>}) {
  return
}
relax.func @main(%n: index {relax.symbol = "n"}) -> tensor<?xf32, #relax.shape<[n]>> {
  %s = relax.alloc_storage 4*n align 64 : !relax.storage
  %0 = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.call_tir_inplace @exp(%0) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> loc("model.py":3:5)
  relax.return %1 : tensor<?xf32, #relax.shape<[n]>>
}

// A kernel that writes no tensor runs where its first operand is.
// CHECK-LABEL: func.func private @relax.graph.writes_none(
// HOST: llvm.call @relax_rt_begin_kernel
// CHECK: call @relax.kernel.reads(
func.func private @reads(%x: memref<4xf32>) {
  return
}
relax.func @writes_none(%x: tensor<4xf32>) -> tensor<4xf32> {
  relax.call_tir_inplace @reads(%x) inplace [] : (tensor<4xf32>) -> ()
  relax.return %x : tensor<4xf32>
}
