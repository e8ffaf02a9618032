//===- Call.td - calls of kernels and libraries ------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CALL_TD
#define RELAX_OPS_CALL_TD

include "Relax/RelaxBase.td"
include "mlir/IR/SymbolInterfaces.td"

class Relax_KernelCallOp<string mnemonic, list<Trait> traits = []>
    : Relax_Op<mnemonic, [DeclareOpInterfaceMethods<SymbolUserOpInterface>] # traits>;

def Relax_CallTIROp : Relax_KernelCallOp<"call_tir", [Pure]> {
  let summary = "calls a tensor program in destination-passing style";
  let description = [{
    Calls a kernel: a `func.func` on plain builtin tensors whose parameters are
    the inputs, then one destination for each result, then one integer for each
    symbolic argument, and which returns the final destinations. (A kernel may
    also be in buffer form, see `relax.call_tir_inplace`.) Semantics: allocate the
    results, call the kernel, return the results.

    Kernel parameters carry their symbolic shape as `relax.shape` (and integer parameters
    their symbol as `relax.symbol`); these are unified with the operand types, the result
    types and the `sym` arguments. Provable mismatches of arity, element types, ranks and
    dimensions are errors; undecided ones are checked at run time.

    Example:

    ```mlir
    func.func private @exp(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>},
                           %out: tensor<?xf32> {relax.shape = #relax.shape<[m]>},
                           %m: index {relax.symbol = "m"}) -> tensor<?xf32>
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %0 = relax.call_tir @exp(%x) sym [n] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<Relax_Tensor>:$operands,
    DefaultValuedAttr<Relax_SymExprArrayAttr, "{}">:$sym_args);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` (`sym` custom<SymExprs>($sym_args)^)? attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Relax_CallTIRInplaceOp : Relax_KernelCallOp<"call_tir_inplace"> {
  let summary = "calls a tensor program that writes into its inputs";
  let description = [{
    Like `relax.call_tir`, but result `i` takes over the storage of operand
    `inplace_indices[i]`, whose old value is dead afterwards; -1 allocates a new
    result. The kernel has no destination parameter for an in-place result: the
    operand is the destination.

    The kernel may be in *buffer form*: a `func.func` whose parameters are memrefs with
    identity layout instead of tensors, with the same `relax.shape`, and which returns
    nothing but writes to its destinations. `relax-cpu-bufferize` produces such kernels;
    `relax-lift-workspace` adds scratch memory as a further destination, whose result is
    unused.

    Example:

    ```mlir
    func.func private @relu_(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %0 = relax.call_tir_inplace @relu_(%x) inplace [0] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Arg<Variadic<Relax_Tensor>, "", [MemRead, MemWrite]>:$operands,
    DenseI64ArrayAttr:$inplace_indices,
    DefaultValuedAttr<Relax_SymExprArrayAttr, "{}">:$sym_args);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` `inplace` $inplace_indices
    (`sym` custom<SymExprs>($sym_args)^)? attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Relax_CallLibraryOp : Relax_Op<"call_library", [Pure]> {
  let summary = "calls a library function in destination-passing style";
  let description = [{
    Calls a function that a library registers under a name, with the operands,
    then the results as destinations, then the `sym` arguments. The result types
    are taken as given. The function must have no side effects.

    Example:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>> {
      %0 = relax.call_library "blas.sgemm"(%x, %w) sym [n, 8, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
      relax.return %0 : tensor<?x8xf32, #relax.shape<[n, 8]>>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$library_function,
    Variadic<Relax_Tensor>:$operands,
    DefaultValuedAttr<Relax_SymExprArrayAttr, "{}">:$sym_args);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $library_function `(` $operands `)` (`sym` custom<SymExprs>($sym_args)^)? attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Relax_CallLibraryInplaceOp : Relax_Op<"call_library_inplace"> {
  let summary = "calls a library function that writes into its inputs";
  let description = [{
    Like `relax.call_library`, but result `i` takes over the storage of operand
    `inplace_indices[i]`, whose old value is dead afterwards; -1 allocates a new result.
    The function gets the operands, then the new results as destinations, then the `sym`
    arguments. Created by `relax-lower-call-tir`, with the destinations as the last
    operands, so that the function gets the same arguments as before.

    Example:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %out: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.call_library_inplace "ml.softmax"(%x, %out) inplace [1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$library_function,
    Arg<Variadic<Relax_Tensor>, "", [MemRead, MemWrite]>:$operands,
    DenseI64ArrayAttr:$inplace_indices,
    DefaultValuedAttr<Relax_SymExprArrayAttr, "{}">:$sym_args);
  let results = (outs Variadic<Relax_Tensor>:$results);
  let assemblyFormat = [{
    $library_function `(` $operands `)` `inplace` $inplace_indices
    (`sym` custom<SymExprs>($sym_args)^)? attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

#endif // RELAX_OPS_CALL_TD
