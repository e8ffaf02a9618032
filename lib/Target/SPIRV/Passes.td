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
  let summary = "expand math functions to arithmetic";
  let description = [{
    The math functions of SPIR-V have device-dependent precision and only support
    f32 and narrower types. They are replaced by polynomials, as on the CPU
    (`relax-approximate-math`), so that results are the same on every device.

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
  let summary = "lower GPU kernels to SPIR-V for Vulkan";
  let description = [{
    Each kernel becomes a separate module, which accesses buffers by their
    addresses and gets all other arguments as push constants; `parameters` lists
    the words of a launch that it reads. `relax-gpu-lower-launches` serializes the
    module. With `bound`, buffers are passed as descriptors, and `bindings` lists
    the parameters that are pointers of buffers. With `narrow`, indices also have
    32 bits.

    If a kernel waits for earlier kernels (`relax-gpu-overlap-launches`), it polls
    a word in memory in which the blocks of the previous kernel count themselves
    when they finish, and counts its own blocks in another word. `pushed` has the
    number of words before those in `parameters`, and the maximum number of push
    constants.

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
           "for devices without buffer addresses">,
    Option<"narrow", "narrow", "bool", /*default=*/"false",
           "for devices that also lack 64-bit integers">,
    Option<"pushed", "pushed", "int64_t", /*default=*/"16",
           "maximum number of push constants, in 8-byte words; further "
           "parameters go to memory">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::spirv::SPIRVDialect"];
}

#endif // RELAX_TARGET_SPIRV_PASSES_TD
