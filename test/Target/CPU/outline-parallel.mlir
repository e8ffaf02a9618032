// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-outline-parallel | FileCheck %s
// RUN: relax-opt %s -relax-outline-parallel="sequential" | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: relax-opt %s -relax-outline-parallel -relax-cpu-to-llvm | FileCheck %s --check-prefix=LLVM

// The body becomes a function of a closure and a range; constants are cloned.
// CHECK-LABEL: func.func @kernel(
// CHECK:         %[[CLOSURE:.*]] = llvm.alloca
// CHECK:         llvm.store %{{.*}} : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
// CHECK:         %[[BODY:.*]] = constant @kernel_parallel
// CHECK:         call @relax_rt_parallel_for(%[[BODY]], %[[CLOSURE]], %{{.*}}, %{{.*}})
// CHECK:       func.func private @kernel_parallel(%{{.*}}: !llvm.ptr, %[[FROM:.*]]: i64, %[[TO:.*]]: i64)
// CHECK-SAME:    linkage = #llvm.linkage<internal>
// CHECK:         memref.alloca()
// CHECK:         scf.for
// CHECK:           memref.store
// CHECK:       func.func private @relax_rt_parallel_for(
// SEQUENTIAL-LABEL: func.func @kernel(
// SEQUENTIAL-NEXT:    memref.alloca()
// SEQUENTIAL:         scf.for
// LLVM-LABEL:  llvm.func @kernel(
// LLVM:          llvm.call @relax_rt_parallel_for(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
// LLVM:        llvm.func internal @kernel_parallel(
// LLVM-NOT:    unrealized_conversion_cast
func.func @kernel(%x: memref<?xf32>, %n: index, %grain: index) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) = (0) to (%n) step (%grain) {
    %place = memref.alloca() : memref<f32>
    memref.store %one, %place[] : memref<f32>
    %v = memref.load %place[] : memref<f32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}
