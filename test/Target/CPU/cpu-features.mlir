// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-translate %s --relax-to-assembly --target=x86_64-linux-gnu:haswell | FileCheck %s --check-prefixes=CHECK,HASWELL
// RUN: relax-translate %s --relax-to-assembly --target=x86_64-linux-gnu | FileCheck %s --check-prefix=BASELINE
// RUN: relax-translate %s --relax-to-assembly --target=aarch64-linux-gnu:cortex-a76 | FileCheck %s --check-prefixes=CHECK,ARM
// RUN: relax-translate %s --relax-to-assembly --target=x86_64-linux-gnu:x86-64-v3,-fma | FileCheck %s --check-prefix=WITHOUT
// RUN: not relax-translate %s --relax-to-object --target=x86_64-linux-gnu:x86-64-v9 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not relax-translate %s --relax-to-object --target=x86_64-linux-gnu:cortex-a76 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not relax-translate %s --relax-to-object --target=x86_64-linux-gnu:haswell,+avx3 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: not relax-translate %s --relax-to-object --target=cuda:sm_90 2>&1 | FileCheck %s --check-prefix=GPU

// The entry points report to external callers which features the CPU lacks, in code that runs on any CPU; other
// functions are only called after this check.
// CHECK-LABEL: __tvm_ffi_main:
// HASWELL-NOT:   {{[yz]mm}}
// CHECK:         relax_rt_require_cpu
// HASWELL-NOT:   {{[yz]mm}}
// CHECK-LABEL: inner:
// HASWELL:       ymm
// CHECK-NOT:     relax_rt_require_cpu
// HASWELL: .asciz "sse3,pclmul,ssse3,fma,{{.*}},avx,f16c,{{.*}}avx2
// ARM:     .asciz "aes,sha2,crc,lse,fullfp16,rdm,rcpc,dotprod"

// The baseline needs no check.
// BASELINE-LABEL: __tvm_ffi_main:
// BASELINE-NOT: relax_rt_require_cpu

// Code can do without a feature of its CPU.
// WITHOUT: .asciz "sse3,ssse3,cx16,{{.*}},avx,f16c,

// An unknown name is an error that lists the known ones.
// CPU: 'x86-64-v9' is not a CPU of x86_64-linux-gnu; LLVM knows {{.*}}, x86-64-v3, x86-64-v4
// OTHER: 'cortex-a76' is not a CPU of x86_64-linux-gnu; for another system its triple is needed, as in 'aarch64-linux-gnu:cortex-a76'
// FEATURE: 'avx3' is not a feature of x86_64-linux-gnu; code can use sse3, {{.*}}avx2
// GPU: --target: 'cuda:sm_90' is a GPU; expected a CPU, as in 'cpu:x86-64-v3', or a triple
module {
  llvm.func @__tvm_ffi_main(%self: !llvm.ptr, %args: !llvm.ptr, %count: i32, %result: !llvm.ptr) -> i32 {
    %0 = llvm.load %args {alignment = 1 : i64} : !llvm.ptr -> vector<8xf32>
    llvm.store %0, %result {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
    %1 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %1 : i32
  }
  llvm.func @inner(%args: !llvm.ptr, %result: !llvm.ptr) {
    %0 = llvm.load %args {alignment = 1 : i64} : !llvm.ptr -> vector<8xf32>
    llvm.store %0, %result {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
    llvm.return
  }
}
