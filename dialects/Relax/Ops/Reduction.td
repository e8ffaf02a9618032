//===- Reduction.td - reductions and scans -----------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes are as in NumPy: no list means all axes, an empty list means none (each
// element by itself), a negative axis counts from the last, and none may occur
// twice. `keepdims` keeps a reduced dimension with size 1.
//
// Floats follow IEEE 754: NaN, and infinities of both signs, make a sum NaN,
// and a single infinity makes it infinite. Sums start from 0, so that the sum
// of only -0 is 0.
//
// Error bounds hold for any number of elements, on all targets: float sums are
// accumulated in blocks (lib/Target/Schedule/LongSums.h).
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_REDUCTION_TD
#define RELAX_OPS_REDUCTION_TD

include "Relax/RelaxBase.td"

class Relax_ReduceOp<string mnemonic, string what, string text, string kind, string accuracy = "">
    : Relax_DeducedOp<mnemonic, [Pure]> {
  string needsElements = "false";
  let summary = what # " over some axes";
  let description = "\n    " # text # [{
    `axis` lists the reduced axes, all axes by default; `keepdims` keeps them with
    size 1.}] # !if(!empty(accuracy), "", "\n\n    " # accuracy) # [{

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
    : Relax_ReduceOp<mnemonic, what, text # " Without elements there is no result, which is an error: at compile time if a reduced dimension is known to be 0, otherwise at run time. The elements are floats or integers of two or more bits.", "Number"> {
  let needsElements = "true";
  let hasFolder = 1;
}

def Relax_SumOp : Relax_ReduceOp<"sum", "sum", "The sum; 0 without elements. Integers wrap around. The result has the element type of `x`, a float or an integer of two or more bits.", "Number",
    "The error of a sum of floats is at most `256 * u * sum(abs(x))`, whatever the number of elements, where `u` is `2 ** -24`, or `2 ** -53` for f64; a narrower result is rounded once more."> {
  let hasFolder = 1;
}
def Relax_ProdOp : Relax_ReduceOp<"prod", "product", "The product; 1 without elements. Integers wrap around. The result has the element type of `x`, a float or an integer of two or more bits.", "Number",
    "The relative error of a product of `n` floats is at most `n * u`, where `u` is `2 ** -24`, or `2 ** -53` for f64, as long as no partial product of a thread or vector lane overflows or is subnormal."> {
  let hasFolder = 1;
}
def Relax_MeanOp : Relax_ReduceOp<"mean", "mean", "The sum divided by the number of elements; NaN without elements. The elements are floats.", "Float",
    "The error is at most `258 * u * mean(abs(x))`, whatever the number of elements, as long as their sum is finite (`u` as for `relax.sum`)."> {
  let hasFolder = 1;
}
def Relax_VarianceOp : Relax_ReduceOp<"variance", "variance", "The mean of the squared distance from the mean (divided by the number of elements, not by one less); NaN without elements. The elements are floats.", "Float",
    "The relative error is at most `1024 * u`, whatever the number of elements and their mean, as long as the sum is finite and each distance from the mean is finite and not subnormal (`u` as for `relax.sum`). Squares are scaled by the greatest element, so that they neither overflow nor vanish before the result does.">;
def Relax_StdOp : Relax_ReduceOp<"std", "standard deviation", "The square root of the variance; NaN without elements. The elements are floats.", "Float",
    "The relative error is at most `1024 * u`, as for `relax.variance`. The result is accurate even where the variance itself would overflow or vanish, as for elements near 1e30 or 1e-30 in f32.">;
def Relax_MaxOp : Relax_SelectOp<"max", "greatest element", "The greatest element; NaN if any element is NaN.">;
def Relax_MinOp : Relax_SelectOp<"min", "least element", "The least element; NaN if any element is NaN.">;
def Relax_LogSumExpOp : Relax_ReduceOp<"logsumexp", "logarithm of the sum of exponentials", "`log(sum(exp(x)))`, without overflow; minus infinity without elements. The elements are floats.", "Float",
    "The sum has the error bound of `relax.sum`, so the error is at most `264 * u` larger than the errors of the functions `exp` and `log`.">;
def Relax_AnyOp : Relax_ReduceOp<"any", "whether any is true", "True if any element is true; false without elements. The elements are Booleans.", "Bool"> {
  let hasFolder = 1;
}
def Relax_AllOp : Relax_ReduceOp<"all", "whether all are true", "True if every element is true, or if there are no elements. The elements are Booleans.", "Bool"> {
  let hasFolder = 1;
}

class Relax_ArgReduceOp<string mnemonic, string which> : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "position of the " # which # " element";
  let description = [{
    The index (`i64`) along `axis` of the }] # which # [{ element, or of the first such
    element if there are several; NaN comes before all other elements. Without `axis`, the
    index is into the flattened tensor. Without elements there is no index, which is an
    error: at compile time if the dimension is known to be 0, otherwise at run time.
    `keepdims` keeps reduced dimensions with size 1. The elements are floats or integers of
    two or more bits.

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

class Relax_ScanOp<string mnemonic, string what, string start, string accuracy> : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = "running " # what # " along an axis";
  let description = [{
    Element `i` along `axis` is the }] # what # [{ of elements 0 to `i`, or, with `exclusive`,
    of the elements before `i`, starting with }] # start # [{. Without `axis`, `data` is
    flattened first. Elements are converted to `dtype` first, if it is given; they are
    floats, or integers of two or more bits, which wrap around. }] # accuracy # [{

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
def Relax_CumsumOp : Relax_ScanOp<"cumsum", "sum", "0",
    "Sums of floats are compensated for rounding errors: the error of each element is at most `4 * u` times the sum of the absolute values up to it, whatever their number (`u` as for `relax.sum`).">;
def Relax_CumprodOp : Relax_ScanOp<"cumprod", "product", "1",
    "The relative error of the product of `n` floats is at most `n * u` (as for `relax.prod`).">;

#endif // RELAX_OPS_REDUCTION_TD
