//===- Reduction.td - reductions and scans -----------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes are as in NumPy: none given means all, an empty list means none (each
// element by itself), a negative one counts from the last, and none may occur
// twice. `keepdims` keeps a reduced dimension with size 1.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_REDUCTION_TD
#define RELAX_OPS_REDUCTION_TD

include "Relax/RelaxBase.td"

class Relax_ReduceOp<string mnemonic, string what, string text, string kind>
    : Relax_DeducedOp<mnemonic, [Pure]> {
  string needsElements = "false";
  let summary = what # " over some axes";
  let description = "\n    " # text # [{
    `axis` lists the axes that are reduced, all if it is left out; `keepdims` keeps
    them with size 1.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # " %x axis [-1] keepdims : (tensor<?x4x" # !if(!eq(kind, "Bool"), "i1", "f32")
        # ", #relax.shape<[n, 4]>>) -> tensor<?x1x" # !if(!eq(kind, "Bool"), "i1", "f32") # [{, #relax.shape<[n, 1]>>
    ```
  }];
  let deduce = "deduceReduction(deduction, op.getX(), ::mlir::relax::Elements::" # kind
               # ", op.getAxis(), op.getKeepdims(), " # needsElements # ", results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axis, UnitAttr:$keepdims);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x (`axis` $axis^)? (`keepdims` $keepdims^)? attr-dict `:` functional-type($x, $result)
  }];
}

class Relax_SelectOp<string mnemonic, string what, string text>
    : Relax_ReduceOp<mnemonic, what, text # " Over no elements there is none, which is an error: while compiling where a reduced dimension is known to be 0, else at run time. The elements are floats or integers of two or more bits.", "Number"> {
  let needsElements = "true";
  let hasFolder = 1;
}

def Relax_SumOp : Relax_ReduceOp<"sum", "sum", "The sum, 0 over no elements. Integers wrap around; the element type, which is a float or an integer of two or more bits, stays.", "Number"> {
  let hasFolder = 1;
}
def Relax_ProdOp : Relax_ReduceOp<"prod", "product", "The product, 1 over no elements. Integers wrap around; the element type, which is a float or an integer of two or more bits, stays.", "Number"> {
  let hasFolder = 1;
}
def Relax_MeanOp : Relax_ReduceOp<"mean", "mean", "The sum divided by the number of elements, NaN over none. The elements are floats.", "Float"> {
  let hasFolder = 1;
}
def Relax_VarianceOp : Relax_ReduceOp<"variance", "variance", "The mean of the squared distance from the mean (divided by the number of elements, not by one less); NaN over no elements. The elements are floats.", "Float">;
def Relax_StdOp : Relax_ReduceOp<"std", "standard deviation", "The square root of the variance; NaN over no elements. The elements are floats.", "Float">;
def Relax_MaxOp : Relax_SelectOp<"max", "greatest element", "The greatest element, NaN if any is.">;
def Relax_MinOp : Relax_SelectOp<"min", "least element", "The least element, NaN if any is.">;
def Relax_LogSumExpOp : Relax_ReduceOp<"logsumexp", "logarithm of the sum of exponentials", "`log(sum(exp(x)))`, without overflow; minus infinity over no elements. The elements are floats.", "Float">;
def Relax_AnyOp : Relax_ReduceOp<"any", "whether any is true", "True if one element is, false over none. The elements are Booleans.", "Bool"> {
  let hasFolder = 1;
}
def Relax_AllOp : Relax_ReduceOp<"all", "whether all are true", "True if every element is, and over none. The elements are Booleans.", "Bool"> {
  let hasFolder = 1;
}

class Relax_ArgReduceOp<string mnemonic, string which> : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "position of the " # which # " element";
  let description = [{
    The index (`i64`) along `axis` of the }] # which # [{ element, of the first if there are
    several; NaN comes before all others. Without `axis`, of the flattened tensor.
    Over no elements there is none, which is an error: while compiling where the
    dimension is known to be 0, else at run time. `keepdims` keeps reduced
    dimensions with size 1. The elements are floats or integers of two or more bits.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xi64, #relax.shape<[n]>>
    ```
  }];
  let deduce = "deduceArgReduction(deduction, op.getX(), op.getAxis(), op.getKeepdims(), results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<I64Attr>:$axis, UnitAttr:$keepdims);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $x (`axis` $axis^)? (`keepdims` $keepdims^)? attr-dict `:` functional-type($x, $result)
  }];
}
def Relax_ArgmaxOp : Relax_ArgReduceOp<"argmax", "greatest">;
def Relax_ArgminOp : Relax_ArgReduceOp<"argmin", "least">;

class Relax_ScanOp<string mnemonic, string what, string start> : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "running " # what # " along an axis";
  let description = [{
    Element `i` along `axis` is the }] # what # [{ of elements 0 to `i`, or with `exclusive`
    of those before `i`, which starts with }] # start # [{. Without `axis`, `data` is flattened
    first. Elements are converted to `dtype` before, if it is given; they are
    floats or, wrapping around, integers of two or more bits.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x axis 0 exclusive : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let deduce = "deduceScan(deduction, op.getData(), op.getAxis(), op.getDtype(), results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$data, OptionalAttr<I64Attr>:$axis,
                       OptionalAttr<TypeAttr>:$dtype, UnitAttr:$exclusive);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`axis` $axis^)? (`exclusive` $exclusive^)? attr-dict `:` functional-type($data, $result)
  }];
}
def Relax_CumsumOp : Relax_ScanOp<"cumsum", "sum", "0">;
def Relax_CumprodOp : Relax_ScanOp<"cumprod", "product", "1">;

#endif // RELAX_OPS_REDUCTION_TD
