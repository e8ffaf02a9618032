//===- Passes.td - kernels to CPU code ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_PASSES_TD
#define RELAX_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleKernelsPass : Pass<"relax-cpu-schedule-kernels", "::mlir::func::FuncOp"> {
  let summary = "lower the structured ops of a kernel to vectorized loops";
  let description = [{
    Applies to kernels with memref parameters whose body is on tensors. Analyzes
    the structured ops of the kernel, regardless of where they came from, and
    emits loops: ops that share rows are computed row by row, with intermediates
    in registers or in one row of cache; contractions, with their prologues and
    epilogues, in register blocks (6 rows by 4 vectors); everything else along the
    contiguous dimension. The remainder of a dimension is handled by smaller
    blocks or masked vectors. Loops that may run in parallel become `scf.forall`,
    with a step that is large enough for a thread.

    A padded operand of a long sum (a slice inserted into a filled tensor, as
    convolutions have it) is first written to scratch memory.

    Kernels with any other ops do not change; `relax-bufferize-kernels` lowers
    them to plain loops.

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
      scf.forall (%first) = (0) to (64) step (64) {
        %last = affine.min affine_map<(d0) -> (d0 + 64, 64)>(%first)
        scf.for %i = %first to %last step %c16 {
          %0 = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
          %1 = math.exp %0 : vector<16xf32>
          vector.store %1, %out[%i] : memref<64xf32>, vector<16xf32>
        }
      }
      return
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "bits of a vector register: 512 (AVX-512), 256 (AVX2), 128 (NEON)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def OutlineParallelPass : Pass<"relax-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "run parallel loops on the thread pool of the runtime";
  let description = [{
    Outlines the body of each one-dimensional `scf.forall` into a function of a
    closure and a range of iterations, and replaces the loop by a call of the
    runtime,

    ```c
    void relax_rt_parallel_for(void (*body)(void *closure, int64_t first, int64_t last),
                               void *closure, int64_t count, int64_t grain);
    ```

    which calls `body` for ranges that cover [0, count) and start at multiples of
    `grain`, the step of the loop; a loop with a single step runs inline. Values
    that the body uses are stored in the closure, on the caller's stack. All other
    parallel loops, or all parallel loops with `sequential`, become sequential
    loops.

    Before:

    ```
    scf.forall (%first) = (0) to (%n) step (%grain) {
      "use"(%x, %first) : (memref<?xf32>, index) -> ()
    }
    ```

    After:

    ```
    llvm.store %x.descriptor, %closure[0]
    call @relax_rt_parallel_for(@k_parallel, %closure, %n, %grain)
    ...
    func.func private @k_parallel(%closure: !llvm.ptr, %from: i64, %to: i64) {
      %x.descriptor = llvm.load %closure[0]
      scf.for %first = %from to %to step %grain {
        "use"(%x, %first) : (memref<?xf32>, index) -> ()
      }
      return
    }
    ```
  }];
  let options = [
    Option<"sequential", "sequential", "bool", /*default=*/"false",
           "turn all parallel loops into sequential loops">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // RELAX_TARGET_CPU_PASSES_TD
