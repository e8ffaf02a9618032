//===- Linear.td - matrix products -*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_LINEAR_TD
#define RELAX_OPS_LINEAR_TD

include "Relax/RelaxBase.td"

def Relax_MatmulOp : Relax_DeducedOp<"matmul", [Pure]> {
  let summary = "matrix product";
  let description = [{
    As NumPy's `matmul`: leading dimensions are batches and broadcast; an operand
    of rank one is a row (left) or a column (right), whose dimension is dropped
    from the result. `out_dtype` asks for another element type than that of the
    operands.

    Example:

    ```mlir
    %y = relax.matmul %x, %w : (tensor<?x128xf32, #relax.shape<[n, 128]>>, tensor<128x256xf32>) -> tensor<?x256xf32, #relax.shape<[n, 256]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$lhs, Relax_Tensor:$rhs, OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
}

#endif // RELAX_OPS_LINEAR_TD
