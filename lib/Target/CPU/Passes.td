//===- Passes.td - kernels to CPU code ---------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_CPU_PASSES_TD
#define RELAX_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelBoundaryPass
    : Pass<"relax-convert-kernel-boundary", "::mlir::ModuleOp"> {
  let summary = "give kernels in tensor form buffers at their boundary";
  let description = [{
    Turns tensor parameters into memrefs of identity layout and results into
    writes of their destinations. The body stays on tensors, so that it may still
    be tiled and fused. Symbolic shapes and symbols stay: calls of `relax` see a
    kernel as before, but for the results that it no longer returns. Functions that
    are no kernels in tensor form pass unchanged.

    Before:

    ```
    func.func @k(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
      %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```

    After:

    ```
    func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) {
      %0 = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %1 = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
      %2 = linalg.exp ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
      bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def EraseShapesPass : Pass<"relax-erase-shapes", "::mlir::func::FuncOp"> {
  let summary = "remove symbolic shapes from kernels on buffers";
  let description = [{
    `relax.shape` and `relax.symbol` of parameters, and the ranges of symbols in
    `relax.symbols`, say to calls and to passes over memory what the sizes of a
    kernel mean. Code in LLVM's terms has no place for them: a memref becomes several
    parameters there. Runs when no call of `relax` is left.

    Before:

    ```
    func.func @k(%x: memref<?xf32> {relax.shape = #relax.shape<[n]>}, %out: memref<?xf32> {relax.shape = #relax.shape<[n]>})
        attributes {relax.symbols = {n = #relax.range<1, 8>}}
    ```

    After:

    ```
    func.func @k(%x: memref<?xf32>, %out: memref<?xf32>)
    ```
  }];
}

def ScheduleKernelsPass : Pass<"relax-cpu-schedule-kernels", "::mlir::func::FuncOp"> {
  let summary = "turn the structured ops of a kernel into loops over vectors";
  let description = [{
    For kernels whose boundary are memrefs and whose body is on tensors. Reads what
    the kernel computes from its structured ops, whatever they came from, and emits
    loops for it: ops that share rows are done row by row with what is between them
    in registers or in a row of cache; contractions with their prologues and
    epilogues in blocks of registers (6 rows by 4 vectors); everything else along the
    dimension in which memory is contiguous. What is left over at the end of a
    dimension is done by smaller blocks, or by vectors with lanes off. Loops that may
    run in parallel are `scf.forall`, with a step that is worth a thread.

    A kernel that holds anything else is left as it is, for
    `relax-bufferize-kernels` to turn into plain loops.

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

def OutlineConstantsPass : Pass<"relax-outline-constants", "::mlir::ModuleOp"> {
  let summary = "move constant tensors of kernels into globals";
  let description = [{
    A kernel is bufferised on its own, in parallel with others, and may not touch
    the module; its constant tensors become `memref.global`s before. Equal
    constants share one.

    Before:

    ```
    %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```

    After:

    ```
    memref.global "private" constant @constant : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
    ...
    %0 = memref.get_global @constant : memref<2xf32>
    %1 = bufferization.to_tensor %0 restrict : memref<2xf32> to tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def BufferizeKernelsPass : Pass<"relax-bufferize-kernels", "::mlir::func::FuncOp"> {
  let summary = "turn the tensors of a kernel into buffers and loops";
  let description = [{
    For kernels whose boundary are memrefs. Bufferises the body in place wherever no
    value is lost by it, turns what is left of `linalg` into loops and gives each
    temporary a place: small ones of static size live on the stack, the others are
    allocated outside of the loops that do not change their size, and freed at the
    end of their block. Kernels that are on memrefs altogether pass unchanged.

    Before:

    ```
    func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) {
      %0 = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %1 = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
      %2 = linalg.exp ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
      bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
    ```

    After:

    ```
    func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      scf.for %i = %c0 to %n step %c1 {
        %0 = memref.load %x[%i] : memref<?xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %out[%i] : memref<?xf32>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"false",
           "make `scf.parallel` of loops that do not depend on each other">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ApproximateMathPass : Pass<"relax-approximate-math", "::mlir::func::FuncOp"> {
  let summary = "replace functions of vectors by polynomials";
  let description = [{
    `exp`, `expm1`, `log`, `log1p`, `log2`, `log10`, `tanh`, `erf`, `sin` and `cos` of
    vectors of f32, f16 and bf16 become arithmetic, within 3 units in the last place
    of an f32, with the results of libm for infinities, NaN, zeros and denormal
    numbers. Scalars and vectors of f64 stay, for libm.

    Before:

    ```
    %0 = math.exp %x : vector<16xf32>
    ```

    After:

    ```
    %n = vector.fma %x, %log2e, %magic : vector<16xf32>
    ...
    %0 = arith.mulf %p, %scale : vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LibraryMathPass : Pass<"relax-library-math", "::mlir::ModuleOp"> {
  let summary = "call libm for what LLVM has no exact intrinsic for";
  let description = [{
    `acosh`, `asinh`, `atanh`, `cbrt`, `erf`, `erfc`, `expm1` and `log1p` become calls
    of libm, f16 and bf16 by way of f32, and vectors element by element. To be run
    while there may be ops of the vector dialect still, and before `expm1` and `log1p`
    would become `exp(x) - 1` and `log(1 + x)`, which lose small arguments.

    Before:

    ```
    %0 = math.log1p %x : vector<2xf64>
    ```

    After:

    ```
    func.func private @log1p(f64) -> f64
    ...
    %0 = vector.extract %x[0] : f64 from vector<2xf64>
    %1 = call @log1p(%0) : (f64) -> f64
    %2 = vector.insert %1, %init[0] : f64 into vector<2xf64>
    ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::vector::VectorDialect"];
}

def OutlineParallelPass : Pass<"relax-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "give parallel loops to the thread pool of the runtime";
  let description = [{
    The body of each `scf.forall` of one dimension becomes a function of a closure
    and a range of the loop, and the loop a call of the runtime,

    ```c
    void relax_rt_parallel_for(void (*body)(void *closure, int64_t first, int64_t last),
                               void *closure, int64_t count, int64_t grain);
    ```

    which calls `body` for ranges that cover [0, count) and begin at multiples of
    `grain`, the step of the loop; a loop of one step runs where it is. What the body
    uses is stored in the closure, on the caller's stack. Other parallel loops, and
    all of them with `sequential`, become loops in order.

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
           "make loops in order of all parallel loops">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // RELAX_TARGET_CPU_PASSES_TD
