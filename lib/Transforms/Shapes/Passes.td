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
    Runs the deduction rule of every op in program order and gives its results
    the deduced types where these are finer; an annotation never becomes coarser.
    Refined return values refine the function's result types, and these the
    results of its calls: signatures are the only thing that crosses a function
    boundary. Runs after import and after any pass that changes types; a second run
    changes nothing.

    The join of both branches gives the results of `relax.if`; what the initial
    values of `relax.while` say is kept where the body keeps it. What an op of
    another dialect or a `relax.make_closure` uses keeps its type.

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

    - to a simpler one that is equal under the bounds of the function's symbols:
      `min(n, 4096)` is `n` where n is at most 2048;
    - a symbol whose range holds one value becomes that value;
    - where `relax.match_cast` defines a symbol for a dimension that is known, by
      the operand's type or an earlier cast of it, the symbol is replaced by that
      dimension throughout its scope;
    - a `relax.match_cast` that is proved is removed.

    A symbol that a cast defines keeps its cast where its declared range is not
    proved for what it would become. Parameter and result types of the function
    are its interface and stay as they are, as do types that an op of another
    dialect or a closure repeats. Kernels are not changed.

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
  let summary = "give symbols their values";
  let description = [{
    Replaces symbols by integers: in parameter and result types, in the body, in
    the declared ranges. The program is then as if it had been written with the
    integers. Symbols are named by the option `symbols`, as in `n=128,m=64`, and
    are bound in each function that defines them, or in the one that the option
    `function` names. An unknown symbol, or a value outside of the declared range,
    is an error.

    An integer parameter that carries a bound symbol (`relax.symbol`) stays in the
    signature; that it has the value is checked on entry with `relax.assert`. Calls
    of a bound function stay: arguments that are not proved to have the size are
    checked when the callee is entered, and what the call's results were declared
    as is asserted with a `relax.match_cast`. Closures of a bound function are made
    of a private wrapper with the old signature. Kernels are not changed: they
    are called with the values.

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
           "the one function to bind them in; all that define them by default">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // RELAX_TRANSFORMS_SHAPES_PASSES_TD
