//===- Passes.td - passes over symbolic shapes -------------*- tablegen -*-===//
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
    Runs the deduction rule of every op in program order and gives its results the deduced
    types if these are finer; an annotation never becomes coarser. Refined return values
    refine the function's result types, and these the results of its calls: signatures are
    the only information that crosses a function boundary. Runs after import and after any
    pass that changes types; a second run changes nothing.

    The results of `relax.if` get the join of both branches; the types of the
    initial values of `relax.while` are kept as far as the body preserves them. A
    value used by an op of another dialect or a `relax.make_closure` keeps its
    type.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32> {
      %0 = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32>
      relax.return %0 : tensor<*xf32>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    ```
  }];
}

def SimplifyShapesPass : Pass<"relax-simplify-shapes", "::mlir::ModuleOp"> {
  let summary = "simplify symbolic expressions under the declared bounds";
  let description = [{
    Rewrites the expressions in types and attributes of function bodies:

    - an expression becomes a simpler one that is equal under the bounds of the function's
      symbols: `min(n, 4096)` is `n` if n is at most 2048;
    - a symbol whose range contains a single value becomes that value;
    - if `relax.match_cast` defines a symbol for a dimension that is known, from the
      operand's type or an earlier cast of it, the symbol is replaced by that dimension
      throughout its scope;
    - a `relax.match_cast` that is proved is removed.

    A symbol defined by a cast keeps its cast if its replacement is not proved to
    be in its declared range. Parameter and result types of the function are its
    interface and stay as they are, as do types that an op of another dialect or a
    closure repeats. Kernels are not changed.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> index {
      %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
      %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
      %2 = relax.sym m + n : index
      relax.return %2 : index
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> index {
      %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %2 = relax.sym 2*n : index
      relax.return %2 : index
    }
    ```
  }];
}

def BindSymbolsPass : Pass<"relax-bind-symbols", "::mlir::ModuleOp"> {
  let summary = "bind symbols to values";
  let description = [{
    Replaces symbols by integers: in parameter and result types, in the body, and in the
    declared ranges. The resulting program is as if it had been written with the integers.
    The option `symbols` lists the values, e.g. `n=128,m=64`. They are bound in each
    function that defines the symbols, or in the one given by the option `function`. An
    unknown symbol, or a value outside of the declared range, is an error.

    An integer parameter that carries a bound symbol (`relax.symbol`) stays in the
    signature; a `relax.assert` checks its value on entry. Calls of a bound function stay:
    arguments that are not proved to have the size are checked on entry of the callee, and
    a `relax.match_cast` asserts the declared result types of the call. Closures of a
    bound function use a private wrapper with the old signature. Kernels are not changed:
    they are called with the values.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
        attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
      relax.return %x : tensor<?xf32, #relax.shape<[n]>>
    }
    ```

    After `relax-bind-symbols{symbols=n=128}`:

    ```mlir
    relax.func @main(%x: tensor<128xf32>) -> tensor<128xf32> {
      relax.return %x : tensor<128xf32>
    }
    ```
  }];
  let options = [
    ListOption<"symbols", "symbols", "std::string",
               "values of symbols, as 'n=128,m=64'">,
    Option<"function", "function", "std::string", "\"\"",
           "the function to bind them in; by default, all functions that define them">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // RELAX_TRANSFORMS_SHAPES_PASSES_TD
