//===- Passes.td - what targets share ----------------------*- tablegen -*-===//
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

def ExpandSmallFloatsPass : Pass<"relax-expand-small-floats"> {
  let summary = "convert floats of 8 bits by their bits";
  let description = [{
    LLVM and Vulkan have no f8E4M3FN and f8E5M2: they are bytes there, and conversions
    of them arithmetic on bits. Numbers are rounded to the nearest even one; what is too
    large is NaN in f8E4M3FN, which has no infinity, and infinite in f8E5M2. With
    `nvidia`, bytes become f16 by an instruction that GPUs have from sm_89 on; with
    `only-normal` they become f32 without denormal numbers, which devices of Vulkan may
    take for zero.

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
