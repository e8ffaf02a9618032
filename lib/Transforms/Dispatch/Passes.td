//===- Passes.td - library dispatch ------------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_DISPATCH_PASSES_TD
#define RELAX_TRANSFORMS_DISPATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def DispatchLibraryPass : Pass<"relax-dispatch-library", "::mlir::ModuleOp"> {
  let summary = "replace what a library does by calls of it";
  let description = [{
    Replaces matches of patterns by `relax.call_library`, and leaves all else as it
    is: partial lowering, the first step of a pipeline.

    A pattern is a function of the module with the attribute `relax.library`:

    - its body, graph ops that end in one returned value, is what is matched: op by
      op, with the same attributes, operands of commutative ops in either order.
      What a match computes on the way must not be used elsewhere;
    - its parameters are what the library function is called with, in order. Their
      types are conditions: element type, rank, dimensions, and the equality of
      dimensions that have the same symbol. `relax.symbols` are conditions on these.
      All must be *proved*; a match that is only possible is none;
    - `function` in `relax.library` is the name that the library registers; `sym`,
      expressions of the symbols, are the integers that it takes; any other entry
      becomes an attribute of the call.

    Patterns are tried in the order in which they stand, last ops of the program
    first, so larger patterns go before their parts. The option `table` names a file
    of patterns, which come after those of the module. The functions are removed.

    Before:

    ```mlir
    relax.func private @gemm_relu(%x: tensor<?x?xf32, #relax.shape<[m, k]>>, %w: tensor<?x?xf32, #relax.shape<[k, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>
        attributes {relax.library = {function = "blas.gemm_relu", sym = [#relax.expr<m>, #relax.expr<n>, #relax.expr<k>]}, relax.symbols = {n = #relax.range<0, multiple_of = 8>}} {
      %0 = relax.matmul %x, %w : (tensor<?x?xf32, #relax.shape<[m, k]>>, tensor<?x?xf32, #relax.shape<[k, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>
      %1 = relax.relu %0 : (tensor<?x?xf32, #relax.shape<[m, n]>>) -> tensor<?x?xf32, #relax.shape<[m, n]>>
      relax.return %1 : tensor<?x?xf32, #relax.shape<[m, n]>>
    }
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[b, 4]>>, %w: tensor<4x16xf32>) -> tensor<?x16xf32, #relax.shape<[b, 16]>> {
      %0 = relax.matmul %x, %w : (tensor<?x4xf32, #relax.shape<[b, 4]>>, tensor<4x16xf32>) -> tensor<?x16xf32, #relax.shape<[b, 16]>>
      %1 = relax.relu %0 : (tensor<?x16xf32, #relax.shape<[b, 16]>>) -> tensor<?x16xf32, #relax.shape<[b, 16]>>
      relax.return %1 : tensor<?x16xf32, #relax.shape<[b, 16]>>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[b, 4]>>, %w: tensor<4x16xf32>) -> tensor<?x16xf32, #relax.shape<[b, 16]>> {
      %0 = relax.call_library "blas.gemm_relu"(%x, %w) sym [b, 16, 4] : (tensor<?x4xf32, #relax.shape<[b, 4]>>, tensor<4x16xf32>) -> tensor<?x16xf32, #relax.shape<[b, 16]>>
      relax.return %0 : tensor<?x16xf32, #relax.shape<[b, 16]>>
    }
    ```
  }];
  let options = [
    Option<"table", "table", "std::string", "\"\"", "a file of patterns">
  ];
}

#endif // RELAX_TRANSFORMS_DISPATCH_PASSES_TD
