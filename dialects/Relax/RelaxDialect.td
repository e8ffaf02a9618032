//===- RelaxDialect.td - the relax dialect -----------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_DIALECT_TD
#define RELAX_DIALECT_TD

include "mlir/IR/OpBase.td"

def Relax_Dialect : Dialect {
  let name = "relax";
  let cppNamespace = "::mlir::relax";
  let summary = "Machine-learning programs whose shapes are known at run time";
  let description = [{
    The `relax` dialect is the graph level of relax-mlir: operators on tensors
    whose dimensions are symbolic expressions, calls of tensor programs
    (`relax.call_tir`) and calls of library functions (`relax.call_library`), all
    in one module.

    A tensor is a builtin tensor; its symbolic shape is the encoding:

    ```mlir
    tensor<?x?x128xf32, #relax.shape<[b, 2*n, 128]>>
    ```

    Symbols are scoped to one `relax.func`. They are non-negative unless their
    declared range says otherwise:

    ```mlir
    relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>)
        -> tensor<?x4xf32, #relax.shape<[n, 4]>>
        attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
      relax.return %x : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    ```

    Three discardable attributes belong to the dialect:

    - `relax.symbols`, on a function: a dictionary from symbol to
      `#relax.range`, checked when the function is entered;
    - `relax.shape`, on a parameter or result of a kernel (`func.func`): the
      symbolic shape of a plain builtin tensor;
    - `relax.symbol`, on an `index` or integer parameter: the symbol whose
      value the parameter carries.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kSymbolsAttr = "relax.symbols";
    static constexpr ::llvm::StringLiteral kShapeAttr = "relax.shape";
    static constexpr ::llvm::StringLiteral kSymbolAttr = "relax.symbol";

    void registerAttributes();
    void registerTypes();

    // One for each family of ops, defined with it.
    void registerFunctionOps();
    void registerCallOps();
    void registerCoreOps();
    void registerControlOps();
    void registerMemoryOps();
    void registerElementwiseOps();
    void registerCreateOps();
    void registerLinearOps();
    void registerReductionOps();
    void registerNormalizationOps();
    void registerAttentionOps();
    void registerConvolutionOps();
    void registerPoolingOps();
    void registerImageOps();
    void registerQuantizationOps();
    void registerManipulateOps();
    void registerSliceOps();
    void registerIndexOps();
    void registerSortOps();
  }];
}

#endif // RELAX_DIALECT_TD
