//===- Passes.td - passes shared by targets ----------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_COMMON_PASSES_TD
#define RELAX_TARGET_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelBoundaryPass
    : Pass<"relax-convert-kernel-boundary", "::mlir::ModuleOp"> {
  let summary = "give kernels in tensor form a buffer interface";
  let description = [{
    Turns tensor parameters into memrefs with identity layout, and results into
    writes to their destinations. The body stays on tensors, so that it can still
    be tiled and fused. Symbolic shapes and symbols are kept, so `relax` calls see
    the same kernel, except that it no longer returns results. Functions that are
    not kernels in tensor form do not change.

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
    `relax.shape` and `relax.symbol` on parameters, and the symbol ranges in
    `relax.symbols`, tell calls and memory passes what the sizes of a kernel mean.
    They have no equivalent in the LLVM dialect, where a memref becomes several
    parameters. Run this when no `relax` calls are left.

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

def OutlineConstantsPass : Pass<"relax-outline-constants", "::mlir::ModuleOp"> {
  let summary = "move constant tensors of kernels into globals";
  let description = [{
    Kernels are bufferized in parallel and must not modify the module then, so
    their constant tensors become `memref.global`s first. Equal constants share
    one global.

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
  let summary = "lower the tensors of a kernel to buffers and loops";
  let description = [{
    Applies to kernels with memref parameters. Bufferizes the body in place
    wherever no value would be lost, lowers the remaining `linalg` ops to loops
    and places temporaries: small ones of static size live on the stack; others
    are allocated outside the loops that do not change their size, and freed at
    the end of their block. Kernels that only use memrefs do not change.

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
           "emit `scf.parallel` for loops without dependences">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ApproximateMathPass : Pass<"relax-approximate-math", "::mlir::func::FuncOp"> {
  let summary = "replace math functions on vectors by polynomials";
  let description = [{
    Expands `exp`, `expm1`, `log`, `log1p`, `log2`, `log10`, `tanh`, `erf`, `sin`
    and `cos` on vectors of f32, f16 and bf16 to arithmetic, to within 3 ulp of an
    f32, with the results of libm for infinities, NaN, zeros and denormals.
    Scalars and f64 vectors are left to libm.

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
  let summary = "call libm for math functions without an exact LLVM intrinsic";
  let description = [{
    `acosh`, `asinh`, `atanh`, `cbrt`, `erf`, `erfc`, `expm1` and `log1p` become
    calls of libm; f16 and bf16 go through f32, and vectors are processed element
    by element. Run this while there may still be ops of the vector dialect, and
    before `expm1` and `log1p` are expanded to `exp(x) - 1` and `log(1 + x)`,
    which are inaccurate for small arguments.

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

def ExpandSmallFloatsPass : Pass<"relax-expand-small-floats"> {
  let summary = "convert 8-bit floats by their bits";
  let description = [{
    LLVM and Vulkan have no f8E4M3FN and f8E5M2, so they become bytes, and their
    conversions become bit arithmetic. Numbers are rounded to nearest, ties to
    even; overflow gives NaN for f8E4M3FN, which has no infinity, and infinity for
    f8E5M2. With `nvidia`, bytes are converted to f16 by an instruction that GPUs
    have from sm_89 on; with `only-normal`, they are converted to f32 without
    denormals, which Vulkan devices may flush to zero.

    Before:

    ```
    %0 = arith.extf %x : f8E5M2 to f32
    ```

    After:

    ```
    %0 = arith.bitcast %x : f8E5M2 to i8
    %1 = arith.extui %0 : i8 to i16
    %2 = arith.shli %1, %c8 : i16
    %3 = arith.bitcast %2 : i16 to f16
    %4 = arith.extf %3 : f16 to f32
    ```
  }];
  let options = [
    Option<"nvidia", "nvidia", "bool", /*default=*/"false",
           "use instructions of NVIDIA GPUs from sm_89 on">,
    Option<"onlyNormal", "only-normal", "bool", /*default=*/"false",
           "compute without denormal numbers of f32 and f16">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // RELAX_TARGET_COMMON_PASSES_TD
