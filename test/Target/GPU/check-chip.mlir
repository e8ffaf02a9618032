// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-check-chip="chip=sm_90a" | FileCheck %s
// RUN: relax-opt %s -relax-gpu-check-chip="chip=subgroup_32_matrices" | FileCheck %s
// RUN: relax-opt %s -relax-gpu-check-chip="chip=emulated" | FileCheck %s
// RUN: not relax-opt %s -relax-gpu-check-chip="chip=sm_75" 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not relax-opt %s -relax-gpu-check-chip="chip=subgroup_8_matrices" 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not relax-opt %s -relax-gpu-check-chip="chip=subgroup_8_bound_narrow" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not relax-opt %s -relax-convert-kernel-boundary -relax-gpu-schedule-launches="chip=sm_9000" 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// CHECK:      func.func @f
// CHECK-NEXT:   return
// OLD:        there is no GPU 'sm_75' that code can be compiled for; NVIDIA GPUs are named 'sm_80'
// NARROW:     there is no GPU 'subgroup_8_matrices'
// BOTH:       there is no GPU 'subgroup_8_bound_narrow'
// SCHEDULE:   there is no GPU 'sm_9000'
func.func @f() {
  return
}
