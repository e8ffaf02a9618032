//===- Passes.td - kernels to SPIR-V -----------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_PASSES_TD
#define RELAX_TARGET_SPIRV_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"relax-spirv-expand-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "turn functions of reals into arithmetic";
  let description = [{
    What SPIR-V has of such functions is as inexact as a device likes, and of f32 and
    less only. They become polynomials, as on the CPU (`relax-cpu-approximate-math`),
    so that results are the same on every device.

    Before:

    ```
    gpu.module @kernels {
      gpu.func @k(%x: f32) -> f32 {
        %0 = math.rsqrt %x : f32
        gpu.return %0 : f32
      }
    }
    ```

    After:

    ```
    gpu.module @kernels {
      gpu.func @k(%x: f32) -> f32 {
        %one = arith.constant 1.0 : f32
        %0 = math.sqrt %x : f32
        %1 = arith.divf %one, %0 : f32
        gpu.return %1 : f32
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerKernelsPass : Pass<"relax-spirv-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turn GPU kernels into SPIR-V for Vulkan";
  let description = [{
    Each kernel becomes a module of its own, which reads buffers by their addresses and
    all else from words that are pushed; `parameters` are the words of a launch that it
    reads. `relax-gpu-lower-launches` makes a binary of it. With `bound`, buffers are
    bound to a kernel, and `bindings` says which parameters are pointers of them. With
    `narrow`, an index has 32 bits beside.

    Where a kernel waits for those before it (`relax-gpu-overlap-launches`), it looks at
    a word in memory in which their blocks count themselves when they are done, and its
    own count in another one: `pushed` says how many words are pushed before those
    that `parameters` names, and how many there may be.

    Before:

    ```
    gpu.module @relax_kernels {
      gpu.func @k(%x: memref<?xf32>) kernel {
        %i = gpu.thread_id x
        memref.store %zero, %x[%i] : memref<?xf32>
        gpu.return
      }
    }
    ```

    After:

    ```
    gpu.module @relax_kernels { ... }
    spirv.module @spirv.k PhysicalStorageBuffer64 GLSL450 requires ... {
      spirv.GlobalVariable @parameters : !spirv.ptr<!spirv.struct<(i64 [0], i64 [8]), Block>, PushConstant>
      spirv.func @main() "None" {
        %0 = spirv.Load "PushConstant" %pushed : i64
        ...
        %3 = spirv.ConvertUToPtr %2 : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
        spirv.Store "PhysicalStorageBuffer" %3, %zero ["Aligned", 4] : f32
        spirv.Return
      }
      spirv.EntryPoint "GLCompute" @main, @LocalInvocationId, @parameters
      spirv.ExecutionMode @main "LocalSize", 256, 1, 1
    }
    ```
  }];
  let options = [
    Option<"bound", "bound", "bool", /*default=*/"false",
           "for devices without addresses of buffers">,
    Option<"narrow", "narrow", "bool", /*default=*/"false",
           "for those without integers of 64 bits as well">,
    Option<"pushed", "pushed", "int64_t", /*default=*/"16",
           "words of 8 bytes that are pushed at most; others are in memory">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::spirv::SPIRVDialect"];
}

#endif // RELAX_TARGET_SPIRV_PASSES_TD
