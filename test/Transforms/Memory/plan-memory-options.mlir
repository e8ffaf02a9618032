// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-lower-call-tir -relax-plan-memory=use-bounds=false | FileCheck %s --check-prefix=EXACT
// RUN: relax-opt %s -relax-lower-call-tir -relax-plan-memory=max-arena-bytes=4095 | FileCheck %s --check-prefix=EXACT
// RUN: relax-opt %s -relax-lower-call-tir -relax-plan-memory=max-arena-bytes=4096 | FileCheck %s --check-prefix=BOUND

// Sizes are exact if bounds are disabled, or if they exceed the limit of the
// arena.
// EXACT: relax.alloc_storage 4*n
// BOUND: relax.alloc_storage 4096
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) attributes {relax.symbols = {n = #relax.range<1, 1024>}} {
  %0 = relax.call_library "f"(%x) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.call_library "consume"(%0) {relax.borrows} : (tensor<?xf32, #relax.shape<[n]>>) -> ()
  relax.return
}
