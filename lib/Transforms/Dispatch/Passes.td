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
  let summary = "replace patterns by library calls";
  let description = [{
    Replaces matches of patterns by `relax.call_library` and leaves everything else
    unchanged: partial lowering, the first step of a pipeline.

    A pattern is a function of the module with the attribute `relax.library`:

    - its body, graph ops that end in one returned value, is matched op by op, with equal
      attributes; operands of commutative ops may be in either order. Intermediate values
      of a match must not be used elsewhere;
    - its parameters become the arguments of the library call, in order. Their types are
      conditions: element type, rank, dimensions, and the equality of dimensions that have
      the same symbol. `relax.symbols` are conditions on the symbols. All must be
      *proved*; a possible match is not enough;
    - `function` in `relax.library` is the name that the library registers; `sym`,
      expressions of the symbols, are its integer arguments; any other entry becomes an
      attribute of the call.

    Patterns are tried in the order of the module, at the last ops of the program first,
    so larger patterns must precede their parts. The option `table` names a file of
    further patterns, which are tried after the patterns of the module. The pattern
    functions are removed.

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
  let summary = "compute matrix products by cuBLASLt";
  let description = [{
    Replaces `relax.linear` and `relax.matmul` of rows and one matrix, in bf16, f16 and
    f32, by calls of the runtime's library function `relax.cublaslt`, together with the
    epilogue that the library supports: the bias, `relax.relu`, `relax.gelu_tanh`. Its
    integer arguments: whether the matrix is transposed, the activation (0 none, 1 relu, 2
    gelu by tanh), and whether there is a bias.

    The second result is scratch memory, which is planned like any other memory. Sizes may
    be symbols, but the depth must be proved to be at least 1. With `only-where-faster`,
    skinny products stay, because our own kernels are faster for them: with fewer than 64
    rows in bf16 and f16, fewer than 16 in f32. If the number of rows is unknown, the
    function is versioned: it calls either `f_few` or `f_many`.

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
           "leave products that our own kernels compute faster">,
    Option<"workspaceBytes", "workspace-bytes", "int64_t", /*default=*/"33554432",
           "scratch memory of a call">
  ];
}

#endif // RELAX_TRANSFORMS_DISPATCH_PASSES_TD
