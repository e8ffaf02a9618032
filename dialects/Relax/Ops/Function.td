//===- Function.td - functions and calls -------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_FUNCTION_TD
#define RELAX_OPS_FUNCTION_TD

include "Relax/RelaxBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Relax_FuncOp : Relax_Op<"func", [
    FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "a graph-level function";
  let description = [{
    A function on tensors with symbolic shapes. Symbols are scoped to the
    function. A symbol is defined by a parameter that has it as a plain dimension
    (of a tensor, a shape or a tuple member), by an integer parameter that carries
    it (`relax.symbol`), or by a `relax.match_cast` in the body. A use before any
    definition is an error. Result types may mention only symbols that parameters
    define, since callers know no other symbols.

    A `pure` function has no side effects, so that a `relax.dataflow` block may
    call it: its body contains only ops that a dataflow block may contain, and
    control flow over these.

    Declared bounds (`relax.symbols`) are checked when the function is entered.
    A function without a body is a declaration.

    Example:

    ```mlir
    relax.func @double(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>)
        -> tensor<?x4xf32, #relax.shape<[n, 4]>>
        attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
      %0 = relax.add %x, %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    UnitAttr:$pure);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    /// Calls `fn` on each symbol that the parameters define.
    void walkParameterSymbols(::llvm::function_ref<void(::mlir::StringAttr)> fn);
    /// `relax.symbols`; null where nothing is declared.
    ::mlir::DictionaryAttr getSymbolRanges();
  }];
}

def Relax_ReturnOp : Relax_Op<"return", [
    Pure, Terminator, ReturnLike, HasParent<"FuncOp">]> {
  let summary = "ends a `relax.func`";
  let description = [{
    Each operand must have the function's result type, or a finer one.

    Example:

    ```mlir
    relax.return %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Relax_AnyValue>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

def Relax_CallOp : Relax_Op<"call", [
    DeclareOpInterfaceMethods<CallOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a `relax.func`";
  let description = [{
    Calls a graph function. Parameter types are patterns: the callee's symbols are
    unified with the actual types at the call (`2*n` against 14 gives `n = 7`),
    and the result types are the callee's with the symbols replaced; a symbol that
    stays unknown gives `?`. A provable mismatch is an error; undecided conditions
    are checked on entry of the callee.

    A `pure` call has no side effects, so it may be in a `relax.dataflow` block
    and is removed if it is unused; its callee must be pure.

    Example:

    ```mlir
    relax.func private @callee(%x: tensor<?xf32, #relax.shape<[2*k]>>, %s: !relax.shape<[k]>) -> tensor<?xf32, #relax.shape<[k]>>
    relax.func @caller(%x: tensor<14xf32>, %s: !relax.shape<[7]>) -> tensor<7xf32> {
      %0 = relax.call @callee(%x, %s) : (tensor<14xf32>, !relax.shape<[7]>) -> tensor<7xf32>
      relax.return %0 : tensor<7xf32>
    }
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<Relax_AnyValue>:$operands,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    UnitAttr:$pure);
  let results = (outs Variadic<Relax_AnyValue>:$results);
  let assemblyFormat = [{
    (`pure` $pure^)? $callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
}

def Relax_MakeClosureOp : Relax_Op<"make_closure", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function with its leading arguments bound, as a value";
  let description = [{
    Creates a callable value from a `relax.func`. The operands are bound to its
    first parameters; the result's function type has the remaining ones. Without
    operands it is a plain function reference.

    Example:

    ```mlir
    relax.func private @scale(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32>
    relax.func @bind(%w: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
      %f = relax.make_closure @scale(%w) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
      relax.return %f : (tensor<4xf32>) -> tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Relax_AnyValue>:$captures);
  let results = (outs FunctionType:$result);
  let hasCustomAssemblyFormat = 1;
}

def Relax_CallClosureOp : Relax_Op<"call_closure", []> {
  let summary = "calls a callable value";
  let description = [{
    Calls a value of function type. Symbols of that type are bound in it and
    unified with the actual types at the call as for `relax.call`.

    Example:

    ```mlir
    relax.func @apply(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.call_closure %f(%x) : (tensor<4xf32>) -> tensor<4xf32> calls (tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FunctionType:$callee, Variadic<Relax_AnyValue>:$args);
  let results = (outs Variadic<Relax_AnyValue>:$results);
  let assemblyFormat = [{
    $callee `(` $args `)` attr-dict `:` type($callee) `calls` functional-type($args, $results)
  }];
  let hasVerifier = 1;
}

#endif // RELAX_OPS_FUNCTION_TD
