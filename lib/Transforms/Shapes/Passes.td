//===- Passes.td - passes over symbolic shapes -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SHAPES_PASSES_TD
#define RELAX_TRANSFORMS_SHAPES_PASSES_TD

include "mlir/Pass/PassBase.td"

def DeduceShapesPass : Pass<"relax-deduce-shapes", "::mlir::ModuleOp"> {
  let summary = "deduce result types, symbolic where that can be proved";
  let description = [{
    Runs the deduction rule of every op in program order and gives its results
    the deduced types where these are finer; an annotation never becomes coarser.
    Refined return values refine the function's result types, and these the
    results of its calls: signatures are the only thing that crosses a function
    boundary. Runs after import and after any pass that changes types; an op whose
    operands did not change is left alone.
  }];
  let dependentDialects = ["::mlir::relax::RelaxDialect"];
}

#endif // RELAX_TRANSFORMS_SHAPES_PASSES_TD
