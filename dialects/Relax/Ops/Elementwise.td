//===- Elementwise.td - element-wise ops -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_ELEMENTWISE_TD
#define RELAX_OPS_ELEMENTWISE_TD

include "Relax/RelaxBase.td"

/// One tensor in, one of the same type out.
class Relax_UnaryOp<string mnemonic, string text, Type tensor = Relax_FloatTensor>
    : Relax_RuleOp<mnemonic, "deduceSameType"> {
  let summary = text # ", element by element";
  let description = [{
    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins tensor:$x);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
}

def Relax_ExpOp : Relax_UnaryOp<"exp", "e to the power of x">;

/// Two tensors, broadcast against each other as in NumPy.
class Relax_BinaryOp<string mnemonic, string text, Type tensor = Relax_Tensor,
                     string rule = "deduceBinary", list<Trait> traits = []>
    : Relax_RuleOp<mnemonic, rule, traits> {
  let summary = text # ", element by element with broadcasting";
  let description = [{
    Both operands have one element type; there is no implicit conversion. Shapes
    are broadcast as in NumPy: a dimension of a symbol against another is legal,
    gives `broadcast(n, m)` and is checked at run time.

    Example:

    ```mlir
    %z = relax.}] # mnemonic # [{ %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
}

def Relax_AddOp : Relax_BinaryOp<"add", "sum", Relax_Tensor, "deduceBinary", [Commutative]>;

#endif // RELAX_OPS_ELEMENTWISE_TD
