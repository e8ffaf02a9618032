// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-lower-to-host | FileCheck %s
// RUN: not relax-opt %s -relax-lower-to-host=device=cuda 2>&1 | FileCheck %s --check-prefix=DEVICE

// Arguments of the runtime call: 64 bits, negative indices allowed, rank 2, 2 bounds; the sizes; the bounds.
// DEVICE: 'relax.check_indices' op reads indices that are on a device; relax-check-indices is for functions that run on the host
// CHECK-DAG: llvm.mlir.global internal constant @[[TEXT:.*]]("main: gather_nd\00indices\00rows, whose size is n + 1 = \00columns, whose size is \00")
// CHECK-DAG: llvm.mlir.global internal constant @[[PLACE:.*]]("{{.*}}lower-check-indices.mlir:[[#@LINE + 6]]:3\00")
// CHECK-LABEL: func.func private @relax.graph.main
// CHECK: %[[TEXT_AT:.*]] = llvm.mlir.addressof @[[TEXT]] :
// CHECK-NEXT: %[[PLACE_AT:.*]] = llvm.mlir.addressof @[[PLACE]] :
// CHECK-NEXT: llvm.call @relax_rt_check_indices(%arg0, %{{.*}}, %{{.*}}, %[[TEXT_AT]], %[[PLACE_AT]]) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
relax.func @main(%i: tensor<?x2xi64, #relax.shape<[n, 2]>>) {
  relax.check_indices %i in [n + 1, 4] of ["rows", "columns"] for "gather_nd" "indices" : tensor<?x2xi64, #relax.shape<[n, 2]>>
  relax.return
}
