//===- Passes.td - kernels to GPU code ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_PASSES_TD
#define RELAX_TARGET_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleLaunchesPass : Pass<"relax-gpu-schedule-kernels", "::mlir::func::FuncOp"> {
  let summary = "turn the structured ops of a kernel into launches of a GPU";
  let description = [{
    For kernels whose boundary are memrefs and whose body is on tensors. Reads what
    the kernel computes from its structured ops, as `relax-cpu-schedule-kernels` does,
    and emits a `gpu.launch` for each nest of stages: with a thread for each point, or,
    where stages reduce along memory or share rows, a block for each row, whose threads
    combine what they have by shuffles. Intermediates that are read by a later launch
    get a buffer of the kernel.

    Products of matrices are computed in tiles, by tensor cores where the operands are
    bf16 or f16. What tiles do well depends on the number of rows: where it is not known,
    the host chooses among several launches.

    Attention, contractions that share rows with a softmax between them, is one launch
    without scores in memory, or two where blocks share the columns.

    A kernel that holds anything else is left as it is.

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
    Option<"subgroupSize", "subgroup-size", "unsigned", /*default=*/"32",
           "threads that exchange values by shuffles">
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
                           "::mlir::vector::VectorDialect"];
}

def LaunchLoopsPass : Pass<"relax-gpu-launch-loops", "::mlir::func::FuncOp"> {
  let summary = "run what no schedule took on the GPU as well";
  let description = [{
    In kernels on memrefs, host code may compute sizes, allocate buffers and launch.
    A branch that does no more than that is host code too. Everything else, loops that
    touch memory, goes into a launch of one thread.
    Allocations stay outside.

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
    Upstream's outlining makes a GPU module of each kernel; here they share one, which
    is compiled and loaded at once. Constants and sizes of buffers are computed where
    they are used rather than passed.

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
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def OverlapLaunchesPass : Pass<"relax-gpu-overlap-launches", "::mlir::ModuleOp"> {
  let summary = "let kernels begin before those before them end";
  let description = [{
    Each kernel lets the next one begin at once, and waits for those before it when it
    first touches memory (programmatic dependent launch, from sm_90 on). What it loads
    first is asked for before that, where the place does not depend on memory. All
    launches are marked, so that the runtime makes use of it.

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
      memref.prefetch %x[%block], read, locality<3>, data : memref<?xf32>
      nvvm.griddepcontrol wait
      %0 = memref.load %x[%block] : memref<?xf32>
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def LowerPrefetchesPass : Pass<"relax-gpu-lower-prefetches"> {
  let summary = "turn prefetches into those of NVIDIA GPUs";
  let description = [{
    LLVM's intrinsic for prefetches is nothing on NVIDIA GPUs.

    Before:

    ```mlir
    "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
    ```

    After:

    ```mlir
    nvvm.prefetch level = L2, %p : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def EmulateLaunchesPass : Pass<"relax-gpu-emulate", "::mlir::ModuleOp"> {
  let summary = "compile GPU kernels for the host, to run on an emulated device";
  let description = [{
    Each kernel of the GPU module becomes a host function that asks the emulator
    (`relax_emulator_id`, `_barrier`, `_shuffle`, `_shared`, …) for what hardware would
    give it. An emulated device runs GPU code where there is no GPU, so that its
    results can be tested; it is slow.

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
  let summary = "turn launches into calls of the runtime";
  let description = [{
    The binary of a GPU module, or the host functions of an emulated one, becomes a
    constant of the module, and each launch of a kernel a call of
    `relax_rt_device_launch` (lib/Runtime/RelaxRuntime.h).

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
