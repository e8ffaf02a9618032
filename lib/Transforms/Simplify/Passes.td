//===- Passes.td - passes that clean programs up -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD
#define RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def DCEPass : Pass<"relax-dce", "::mlir::ModuleOp"> {
  let summary = "remove dead code, with symbols counted as uses";
  let description = [{
    Removes what no result and no side effect needs:

    - ops without side effects, loops and branches included;
    - results of `relax.dataflow` and `relax.if` that nobody uses;
    - every `relax.match_cast` whose value is unused, unless it defines a symbol
      that live code names, in a type, an attribute or a shape: such a cast is
      the only place that computes the symbol;
    - declared ranges of symbols that are gone;
    - private functions and kernels that nothing reaches.

    A symbol that only dead code names is dead. `relax.call` stays, since its
    callee may have side effects. Linear in the size of the module: functions,
    values and symbols go through one worklist.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
      %2 = relax.exp %1 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
      %3 = relax.sym 2*n : index
      relax.return %3 : index
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %3 = relax.sym 2*n : index
      relax.return %3 : index
    }
    ```
  }];
}

#endif // RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD
