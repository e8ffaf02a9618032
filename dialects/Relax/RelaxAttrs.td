//===- RelaxAttrs.td - attributes of the relax dialect -----*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_ATTRS_TD
#define RELAX_ATTRS_TD

include "Relax/RelaxDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Relax_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Relax_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Relax_SymExprAttr : Relax_Attr<"SymExpr", "expr"> {
  let summary = "symbolic integer expression in canonical form";
  let description = [{
    A 64-bit integer expression over named symbols, kept in one canonical form
    (a sum of products over symbols and opaque terms), so that most semantic
    equalities are pointer equalities.

    | written                   | meaning                                     |
    |---------------------------|---------------------------------------------|
    | `n`, `7`                  | symbol, constant                            |
    | `a + b`, `a - b`, `a * b` | ring operations; products are expanded      |
    | `a floordiv b`            | rounds towards negative infinity            |
    | `a ceildiv b`             | rounds towards positive infinity            |
    | `a mod b`                 | `a - b * (a floordiv b)`                    |
    | `min(a, b)`, `max(a, b)`  | of one or more operands                     |
    | `broadcast(a, b)`         | size of a dimension broadcast from `a` and `b`: the operand that is not 1; undefined where two operands differ and neither is 1 |

    Division by a constant zero, 64-bit overflow and nesting beyond 256 levels are
    errors; nothing wraps around. Division by a symbolic zero is undefined and
    checked at run time.

    Example:

    ```mlir
    #relax.expr<(n + 3) floordiv 4>
    ```
  }];
  let parameters = (ins
    "SymKind":$kind,
    "int64_t":$value,
    "::mlir::StringAttr":$name,
    ArrayRefParameter<"::mlir::relax::SymExprAttr">:$operands,
    ArrayRefParameter<"int64_t">:$coefficients,
    "unsigned":$depth);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Uniques a node without canonicalizing it. Only `SymBuilder`, and code
    /// whose parts are already canonical, may call this.
    static SymExprAttr getRaw(::mlir::MLIRContext *context, SymKind kind,
                              int64_t value, ::mlir::StringAttr name,
                              ::llvm::ArrayRef<SymExprAttr> operands,
                              ::llvm::ArrayRef<int64_t> coefficients);
    static SymExprAttr getConstant(::mlir::MLIRContext *context, int64_t value);
    static SymExprAttr getSymbol(::mlir::MLIRContext *context, ::llvm::StringRef name);

    bool isConstant() const { return getKind() == SymKind::Constant; }
    bool isConstant(int64_t value) const { return isConstant() && getValue() == value; }
    bool isSymbol() const { return getKind() == SymKind::Symbol; }
    /// The value if the expression is a constant.
    ::std::optional<int64_t> getConstantValue() const;

    /// Calls `fn` on every symbol in the expression (possibly repeatedly).
    void walkSymbols(::llvm::function_ref<void(::mlir::StringAttr)> fn) const;

    /// Prints the expression without the surrounding `#relax.expr<>`.
    void printExpr(::llvm::raw_ostream &os) const;
    ::std::string str() const;

    /// A total order that depends only on structure, never on addresses:
    /// negative, zero or positive if `lhs` comes before, equals, or follows
    /// `rhs`.
    static int compare(SymExprAttr lhs, SymExprAttr rhs);
  }];
}

def Relax_ShapeAttr : Relax_Attr<"Shape", "shape", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "symbolic shape of a tensor";
  let description = [{
    The symbolic shape of a tensor, one expression per dimension; `?` stands for
    an unknown dimension. As a tensor's encoding it must agree with the type: the
    same rank, and constants exactly where the type is static. A shape without any
    symbol adds nothing to the type, so it is omitted as an encoding: static
    programs have none.

    Example:

    ```mlir
    #relax.shape<[b, n + 1, ?, 128]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::relax::SymExprAttr",
                      "one expression a dimension; null is unknown">:$dims);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDims().size(); }
  }];
}

def Relax_RangeAttr : Relax_Attr<"Range", "range"> {
  let summary = "declared bounds of a symbol";
  let description = [{
    The values that a symbol may take: at least `lower`, at most `upper` (`*` for
    no bound), and a multiple of `multiple_of`. Declared on a function in
    `relax.symbols`, used by the prover and by memory planning, and checked at run
    time on entry of the function.

    Example:

    ```mlir
    #relax.range<1, 4096, multiple_of = 16>
    ```
  }];
  let parameters = (ins
    "int64_t":$lower,
    "::std::optional<int64_t>":$upper,
    "int64_t":$multipleOf);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Relax_WeightAttr : Relax_Attr<"Weight", "weight"> {
  let summary = "a weight stored outside the module, by name";
  let description = [{
    Names a tensor of the model's weight file, for `relax.constant`.

    Example:

    ```mlir
    #relax.weight<"model.embed_tokens.weight">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
  let genVerifyDecl = 1;
}

#endif // RELAX_ATTRS_TD
