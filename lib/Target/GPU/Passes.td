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
  let summary = "fail where there is no such GPU";
  let description = [{
    An error where `chip` names no GPU that code can be made for, before anything that
    asks what it has. The module stays as it is.

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
    the host chooses among several launches. For sm_90a, boxes of the operands are
    copied by maps of the tensors: casts of their buffers, which the host has until
    `relax-gpu-lower-launches`.

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
           "threads that exchange values by shuffles">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "the GPU, as sm_90a, to use what it alone has; empty for any">
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
  let summary = "run what no schedule took on the GPU as well";
  let description = [{
    In kernels on memrefs, host code may compute sizes, allocate buffers and launch.
    A branch that does no more than that is host code too, and so is a loop around
    parallel ones. Each of these is a launch with a thread for each iteration;
    everything else, loops that touch memory, goes into a launch of one thread.
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
    they are used rather than passed; maps of tensors are passed by value.

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
  let summary = "let kernels read maps of tensors where their parameters are";
  let description = [{
    `relax-gpu-outline-launches` notes which parameters of a kernel are maps of
    tensors. When the kernel is in the LLVM dialect, they become parameters by value,
    of which there is no copy: hardware takes the address of the parameter alone.

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
  let summary = "let kernels begin before those before them end";
  let description = [{
    Each kernel lets the next one begin at once, and waits for those before it when it
    first touches memory (programmatic dependent launch, from sm_90 on). What is marked
    `relax.invariant` is never written, and read before that. All launches are marked,
    so that the runtime makes use of it.

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
           "for what lets a block wait, not a thread: in no branch that threads take "
           "apart; kernels that multiply matrices of subgroups do not wait">,
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def GridStridePass : Pass<"relax-gpu-grid-stride", "::mlir::ModuleOp"> {
  let summary = "add kernels of which any number of blocks can do a launch";
  let description = [{
    Of a kernel that has `many_blocks` there is another afterwards, whose blocks
    do several of a launch each, as far apart as there are blocks. Both are given
    the number of blocks of the launch. The other one waits for kernels before it
    (`relax-gpu-overlap-launches`) once.

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
  let summary = "turn prefetches into those of NVIDIA GPUs";
  let description = [{
    LLVM's intrinsic for prefetches is nothing on NVIDIA GPUs; these can be asked for
    from sm_90 on.

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
    NVIDIA's GPUs have no arithmetic on bytes, and convert them to f32 at a fraction of
    the rate of other arithmetic; so do they with bf16. Vectors of bytes are taken as
    words: operations on bits, and shifts by a constant, are those of words, and a byte
    becomes a float where it is put into the lowest bits of 2^23, which is taken away
    again. bf16 is the upper half of f32.

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
  let summary = "multiply matrices of a subgroup lane by lane";
  let description = [{
    Cooperative matrices become vectors: each of 32 lanes has half a row of 16 elements,
    and lanes exchange what they multiply. For devices that have none, as the emulator.

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
    `relax_rt_device_launch` (lib/Runtime/Core/RelaxRuntime.h). Maps of tensors are made
    by `relax_rt_device_tensor_map`, and handed on by value.

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
