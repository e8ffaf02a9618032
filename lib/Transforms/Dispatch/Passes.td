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

def DispatchCublasLtPass : Pass<"relax-dispatch-cublaslt", "::mlir::ModuleOp"> {
  let summary = "let cuBLASLt multiply matrices";
  let description = [{
    Replaces `relax.linear` and `relax.matmul` of rows and one matrix, in bf16, f16
    and f32, by calls of the runtime's library function `relax.cublaslt`, together with
    what the library does with the sums: the bias, `relax.relu`, `relax.gelu_tanh`. What it
    takes beyond the operands: whether the matrix is transposed, the activation
    (0 none, 1 relu, 2 gelu by tanh), and whether there is a bias.

    The second result is scratch memory, which is planned as all else is. Sizes may
    be symbols, but the depth must be proved to be at least 1. With
    `only-where-faster`, products of few rows stay, as kernels of our own do them
    faster: of less than 64 in bf16 and f16, of less than 16 in f32. Where that is not
    known, the function becomes two, `f_few` and `f_many`, of which it calls one.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x64xbf16, #relax.shape<[n, 64]>>, %w: tensor<128x64xbf16>, %b: tensor<128xbf16>) -> tensor<?x128xbf16, #relax.shape<[n, 128]>> {
      %0 = relax.linear %x, %w, %b : (tensor<?x64xbf16, #relax.shape<[n, 64]>>, tensor<128x64xbf16>, tensor<128xbf16>) -> tensor<?x128xbf16, #relax.shape<[n, 128]>>
      %1 = relax.relu %0 : (tensor<?x128xbf16, #relax.shape<[n, 128]>>) -> tensor<?x128xbf16, #relax.shape<[n, 128]>>
      relax.return %1 : tensor<?x128xbf16, #relax.shape<[n, 128]>>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?x64xbf16, #relax.shape<[n, 64]>>, %w: tensor<128x64xbf16>, %b: tensor<128xbf16>) -> tensor<?x128xbf16, #relax.shape<[n, 128]>> {
      %0:2 = relax.call_library "relax.cublaslt"(%x, %w, %b) sym [1, 1, 1] : (tensor<?x64xbf16, #relax.shape<[n, 64]>>, tensor<128x64xbf16>, tensor<128xbf16>) -> (tensor<?x128xbf16, #relax.shape<[n, 128]>>, tensor<33554432xi8>)
      relax.return %0#0 : tensor<?x128xbf16, #relax.shape<[n, 128]>>
    }
    ```
  }];
  let options = [
    Option<"onlyWhereFaster", "only-where-faster", "bool", /*default=*/"false",
           "leave what kernels of our own do faster">,
    Option<"workspaceBytes", "workspace-bytes", "int64_t", /*default=*/"33554432",
           "scratch memory of a call">
  ];
}

#endif // RELAX_TRANSFORMS_DISPATCH_PASSES_TD
