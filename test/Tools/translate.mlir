// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: relax-translate -mlir-to-llvmir %t/llvm.mlir | FileCheck %s --check-prefix=LLVM
// RUN: relax-translate -serialize-spirv %t/spirv.mlir | relax-translate -deserialize-spirv - | FileCheck %s --check-prefix=SPIRV
// RUN: not relax-translate -serialize-spirv %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE

// Remaining relax attributes in a lowered module are harmless.
// LLVM: define float @double(float %0)
// SPIRV: spirv.func @empty()
// NONE: error: expected one kernel, got 0; kernels are launched by gpu.launch

//--- llvm.mlir
module {
  llvm.func @double(%x: f32) -> f32 attributes {relax.symbols = {}} {
    %0 = llvm.fadd %x, %x : f32
    llvm.return %0 : f32
  }
}
//--- spirv.mlir
module {
  spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
    spirv.func @empty() "None" {
      spirv.Return
    }
  }
}
//--- none.mlir
relax.func private @main()
