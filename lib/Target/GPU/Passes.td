//===- Passes.td - kernels to GPU code ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_PASSES_TD
#define RELAX_TARGET_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckChipPass : Pass<"relax-gpu-check-chip", "::mlir::ModuleOp"> {
  let summary = "fail if the GPU is unknown";
  let description = [{
    Emits an error if `chip` names a GPU that code cannot be generated for, before
    any pass asks for its features. The module does not change.

    Before:

    ```mlir
    func.func @f() {
      return
    }
    ```

    After:

    ```mlir
    func.func @f() {
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "the name of a GPU">
  ];
}

def ScheduleLaunchesPass : Pass<"relax-gpu-schedule-launches", "::mlir::func::FuncOp"> {
  let summary = "lower the structured ops of a kernel to GPU launches";
  let description = [{
    Applies to kernels with memref parameters whose body is on tensors. Analyzes
    the structured ops of the kernel, as `relax-cpu-schedule-kernels` does, and
    emits a `gpu.launch` for each nest of stages, with a thread for each point or,
    if stages reduce along contiguous memory or share rows, a block for each row,
    whose threads combine their results by shuffles. Intermediate results that a
    later launch reads get a buffer in the kernel.

    Matmuls are computed in tiles, with tensor cores if the operands are bf16 or
    f16. The best tile depends on the number of rows; if that is dynamic, the host
    chooses among several launches. For sm_90a, boxes of the operands are copied
    through tensor maps, which are represented by casts of the buffers until
    `relax-gpu-lower-launches`.

    Attention (contractions that share rows, with a softmax between them) becomes
    one launch without scores in memory, or two launches if several blocks split
    the columns (split-KV).

    Kernels with any other ops do not change.

    Before:

    ```
    func.func @k(%x: memref<64xf32>, %out: memref<64xf32>) {
      %0 = bufferization.to_tensor %x restrict : memref<64xf32> to tensor<64xf32>
      %1 = bufferization.to_tensor %out restrict writable : memref<64xf32> to tensor<64xf32>
      %2 = linalg.exp ins(%0 : tensor<64xf32>) outs(%1 : tensor<64xf32>) -> tensor<64xf32>
      bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
      return
    }
    ```

    After:

    ```
    func.func @k(%x: memref<64xf32>, %out: memref<64xf32>) {
      gpu.launch blocks(%block, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%thread, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
        %base = arith.muli %block, %c256 : index
        %i = arith.addi %base, %thread : index
        %inside = arith.cmpi ult, %i, %c64 : index
        scf.if %inside {
          %0 = memref.load %x[%i] : memref<64xf32>
          %1 = math.exp %0 : f32
          memref.store %1, %out[%i] : memref<64xf32>
        }
        gpu.terminator
      }
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "the GPU, such as sm_90a, whose specific features may be used; empty "
           "for any">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::spirv::SPIRVDialect",
                           "::mlir::vector::VectorDialect"];
}

def LaunchLoopsPass : Pass<"relax-gpu-launch-loops", "::mlir::func::FuncOp"> {
  let summary = "launch unscheduled loops on the GPU";
  let description = [{
    In kernels on memrefs, host code may compute sizes, allocate buffers and
    launch. A branch that only contains such code also stays on the host, as does
    a loop around parallel loops. Each parallel loop becomes a launch with a
    thread for each iteration; all other code that touches memory becomes a launch
    of one thread. Allocations stay outside.

    Before:

    ```
    func.func @k(%x: memref<?xf32>) {
      %n = memref.dim %x, %c0 : memref<?xf32>
      scf.for %i = %c0 to %n step %c1 {
        memref.store %zero, %x[%i] : memref<?xf32>
      }
      return
    }
    ```

    After:

    ```
    func.func @k(%x: memref<?xf32>) {
      %n = memref.dim %x, %c0 : memref<?xf32>
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
        scf.for %i = %c0 to %n step %c1 {
          memref.store %zero, %x[%i] : memref<?xf32>
        }
        gpu.terminator
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def OutlineLaunchesPass : Pass<"relax-gpu-outline-launches", "::mlir::ModuleOp"> {
  let summary = "move the bodies of launches into one GPU module";
  let description = [{
    Upstream's outlining creates a GPU module for each kernel; here, all kernels
    share one module, which is compiled and loaded in one step. Constants and
    buffer sizes are recomputed where they are used instead of being passed;
    tensor maps are passed by value.

    Before:

    ```
    func.func @k(%x: memref<?xf32>) {
      gpu.launch blocks(...) threads(...) { ... }
      return
    }
    ```

    After:

    ```
    gpu.module @relax_kernels {
      gpu.func @k(%x: memref<?xf32>) kernel { ... }
    }
    func.func @k(%x: memref<?xf32>) {
      gpu.launch_func @relax_kernels::@k blocks in (...) threads in (...) args(%x : memref<?xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def KeepTensorMapsPass : Pass<"relax-gpu-keep-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "pass tensor maps to kernels by value";
  let description = [{
    `relax-gpu-outline-launches` records which parameters of a kernel are tensor
    maps. Once the kernel is in the LLVM dialect, this pass makes them by-value
    parameters that are never copied, since the hardware requires the address of
    the parameter itself.

    Before:

    ```
    llvm.func @k(%map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, tensor_maps = array<i64: 0>} { ... }
    ```

    After:

    ```
    llvm.func @k(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant})
        attributes {gpu.kernel, nvvm.kernel} { ... }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def OverlapLaunchesPass : Pass<"relax-gpu-overlap-launches", "::mlir::ModuleOp"> {
  let summary = "let a kernel begin before earlier ones end";
  let description = [{
    Each kernel lets the next one start immediately, and waits for earlier kernels
    when it first touches memory (programmatic dependent launch, sm_90 and later).
    Memory marked `relax.invariant` is never written, and is read before the wait.
    All launches are marked so that the runtime enables the overlap.

    Before:

    ```
    gpu.func @k(%x: memref<?xf32>) kernel {
      %block = gpu.block_id x
      %0 = memref.load %x[%block] : memref<?xf32>
      ...
    }
    ```

    After:

    ```
    gpu.func @k(%x: memref<?xf32>) kernel {
      nvvm.griddepcontrol launch_dependents
      %block = gpu.block_id x
      nvvm.griddepcontrol wait
      %0 = memref.load %x[%block] : memref<?xf32>
      ...
    }
    ```
  }];
  let options = [
    Option<"together", "together", "bool", /*default=*/"false",
           "for targets on which blocks wait as a whole: do not wait in "
           "divergent branches, or in kernels that multiply cooperative matrices">,
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def GridStridePass : Pass<"relax-gpu-grid-stride", "::mlir::ModuleOp"> {
  let summary = "add kernel variants that run with any number of blocks";
  let description = [{
    Adds a variant of each kernel with `many_blocks` in which a block processes
    several blocks of the launch, with a stride of the number of actual blocks.
    Both variants get the number of blocks of the launch as an argument. The
    variant waits for earlier kernels (`relax-gpu-overlap-launches`) only once.

    Before:

    ```
    gpu.func @k(%x: memref<?xf32>) kernel attributes {many_blocks} {
      %block = gpu.block_id x
      nvvm.griddepcontrol wait
      %0 = memref.load %x[%block] : memref<?xf32>
      ...
    }
    ```

    After:

    ```
    gpu.func @k(%x: memref<?xf32>, %end: index) kernel
        attributes {grid_stride = @k_grid_stride} {
      ...
    }
    gpu.func @k_grid_stride(%x: memref<?xf32>, %end: index) kernel
        attributes {grid_stride} {
      %first, %stride, %last = ... : i32
      scf.while (%number = %first) : (i32) -> i32 {
        %isFirst = arith.cmpi eq, %number, %first : i32
        scf.if %isFirst {
          nvvm.griddepcontrol wait
        }
        %block = arith.index_castui %number : i32 to index
        %0 = memref.load %x[%block] : memref<?xf32>
        ...
        %next = arith.addi %number, %stride : i32
        %goesOn = arith.cmpi ult, %next, %last : i32
        scf.condition(%goesOn) %next : i32
      } do {
      ^bb0(%next: i32):
        scf.yield %next : i32
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerPrefetchesPass : Pass<"relax-gpu-lower-prefetches"> {
  let summary = "lower prefetches to NVIDIA instructions";
  let description = [{
    LLVM's prefetch intrinsic does nothing on NVIDIA GPUs; this pass replaces it
    by instructions, which can be used from sm_90 on.

    Before:

    ```
    "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
    ```

    After:

    ```
    nvvm.prefetch level = L2, %p : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def ExpandCastsPass : Pass<"relax-gpu-expand-casts", "::mlir::gpu::GPUModuleOp"> {
  let summary = "convert vectors of bytes and bf16 to f32 by their bits";
  let description = [{
    NVIDIA GPUs have no byte arithmetic, and convert bytes and bf16 to f32 at a
    fraction of the rate of other arithmetic. Vectors of bytes are treated as
    words: bitwise operations and shifts by a constant are done on words, and a
    byte becomes a float by inserting it into the lowest bits of 2^23, which is
    then subtracted. bf16 is the upper half of f32.

    Before:

    ```
    gpu.module @kernels {
      gpu.func @k(%x: vector<4xi8>) -> vector<4xf32> {
        %0 = arith.uitofp %x : vector<4xi8> to vector<4xf32>
        gpu.return %0 : vector<4xf32>
      }
    }
    ```

    After:

    ```
    gpu.module @kernels {
      gpu.func @k(%x: vector<4xi8>) -> vector<4xf32> {
        %0 = vector.bitcast %x : vector<4xi8> to vector<1xi32>
        %1 = vector.extract %0[0] : i32 from vector<1xi32>
        %2 = nvvm.prmt <default> %selector, %1, %bits : i32
        %3 = arith.bitcast %2 : i32 to f32
        ...
        %9 = vector.from_elements %3, %5, %7, %8 : vector<4xf32>
        %10 = arith.subf %9, %base : vector<4xf32>
        gpu.return %10 : vector<4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandMatricesPass : Pass<"relax-gpu-expand-matrices", "::mlir::gpu::GPUModuleOp"> {
  let summary = "expand cooperative matrices to vectors";
  let description = [{
    Each of 32 lanes holds half a row of 16 elements as a vector, and lanes
    exchange operands by shuffles. For devices without cooperative matrices, such
    as the emulator.

    Before:

    ```
    gpu.module @kernels {
      gpu.func @k(%c: !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>) kernel {
        %0 = spirv.FMul %c, %c : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
        gpu.return
      }
    }
    ```

    After:

    ```
    gpu.module @kernels {
      gpu.func @k(%c: !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>) kernel {
        %0 = builtin.unrealized_conversion_cast %c : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc> to vector<8xf32>
        %1 = arith.mulf %0, %0 : vector<8xf32>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::spirv::SPIRVDialect",
                           "::mlir::vector::VectorDialect"];
}

def EmulateLaunchesPass : Pass<"relax-gpu-emulate-launches", "::mlir::ModuleOp"> {
  let summary = "compile GPU kernels for the host, to run on an emulated device";
  let description = [{
    Each kernel of the GPU module becomes a host function that calls the emulator
    (`relax_emulator_id`, `_barrier`, `_shuffle`, `_shared`, …) instead of using
    GPU hardware. The emulated device runs GPU code on machines without a GPU, to
    test its results; it is slow.

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
    gpu.module @relax_kernels attributes {relax.emulated} { ... }
    func.func private @relax.emulated.k(%x: memref<?xf32>) {
      %0 = llvm.call @relax_emulator_id(%which) : (i32) -> i64
      %i = arith.index_cast %0 : i64 to index
      memref.store %zero, %x[%i] : memref<?xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def LowerLaunchesPass : Pass<"relax-gpu-lower-launches", "::mlir::ModuleOp"> {
  let summary = "lower launches to runtime calls";
  let description = [{
    The binary of a GPU module, or the host functions of an emulated one, becomes
    a constant of the module, and each launch becomes a call of
    `relax_rt_device_launch` (lib/Runtime/Core/RelaxRuntime.h). Tensor maps are
    made by `relax_rt_device_tensor_map` and passed by value.

    Before:

    ```
    gpu.binary @relax_kernels [#gpu.object<#nvvm.target, assembly = "...">]
    ...
    gpu.launch_func @relax_kernels::@k blocks in (...) threads in (...) args(%x : memref<?xf32>)
    ```

    After:

    ```
    llvm.mlir.global internal constant @relax.gpu_image("...")
    ...
    llvm.call @relax_rt_device_launch(%kernel, %shape, %args, %location)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // RELAX_TARGET_GPU_PASSES_TD
