//===- RelaxTypes.td - types of the relax dialect ----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TYPES_TD
#define RELAX_TYPES_TD

include "Relax/RelaxAttrs.td"
include "mlir/IR/AttrTypeBase.td"

class Relax_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Relax_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Relax_ShapeType : Relax_Type<"Shape", "shape"> {
  let summary = "a shape as a run-time value";
  let description = [{
    A first-class shape: the argument of `relax.reshape`, the result of
    `relax.shape_of`. There are three forms, from fine to coarse: expressions
    (with `?` for an unknown one), the rank alone, and `*` for unknown rank.

    Example:

    ```mlir
    !relax.shape<[n, 4]>
    ```
  }];
  let parameters = (ins
    "bool":$ranked,
    ArrayRefParameter<"::mlir::relax::SymExprAttr",
                      "one expression a dimension; null is unknown">:$dims);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<SymExprAttr>":$dims), [{
      return $_get($_ctxt, true, dims);
    }]>
  ];
  let extraClassDeclaration = [{
    /// `!relax.shape<*>`
    static ShapeType getUnranked(::mlir::MLIRContext *context);
    /// `!relax.shape<rank>`
    static ShapeType getRanked(::mlir::MLIRContext *context, int64_t rank);
    int64_t getRank() const { return getDims().size(); }
  }];
}

def Relax_ObjectType : Relax_Type<"Object", "object"> {
  let summary = "any run-time value";
  let description = [{
    The coarsest annotation: a value about which nothing is known. Refined by
    `relax.match_cast`.

    Example:

    ```mlir
    !relax.object
    ```
  }];
}

def Relax_StorageType : Relax_Type<"Storage", "storage"> {
  let summary = "a block of memory";
  let description = [{
    Created by `relax.alloc_storage` and shared by tensors no two of which are
    live at the same time. Exists only after memory planning.

    Example:

    ```mlir
    !relax.storage
    ```
  }];
}

#endif // RELAX_TYPES_TD
