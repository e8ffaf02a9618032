//===- Elementwise.td - element-wise ops -------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op states what it computes of one element. Two things hold for all:
//
//   - There is no implicit conversion. The element types that an op takes are
//     its `Elements` (Rules.h): floats, numbers (floats and integers of two or
//     more bits), integers, Booleans. Signless integers are signed; `i1` is
//     Boolean.
//   - Shapes broadcast as in NumPy. A symbol against another, `n` with `m`, is
//     legal, gives `broadcast(n, m)` and is checked at run time.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_ELEMENTWISE_TD
#define RELAX_OPS_ELEMENTWISE_TD

include "Relax/RelaxBase.td"

/// Kinds of elements: the name of the enumerator, what to call it, an example.
class Relax_Elements<string kind, string words, string sample> {
  string enumerator = "::mlir::relax::Elements::" # kind;
  string sentence = words;
  string example = sample;
}
def Relax_Floats : Relax_Elements<"Float", "The elements are floats.", "f32">;
def Relax_Numbers : Relax_Elements<"Number", "The elements are floats or integers of two or more bits.", "f32">;
def Relax_Integers : Relax_Elements<"Integer", "The elements are integers of two or more bits.", "i32">;
def Relax_Bits : Relax_Elements<"IntegerOrBool", "The elements are integers, Booleans among them.", "i32">;
def Relax_Bools : Relax_Elements<"Bool", "The elements are Booleans (`i1`).", "i1">;
def Relax_AnyElements : Relax_Elements<"Any", "The elements may be of any type.", "f32">;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// An op with one operand and a result of the same shape, with elements
/// according to `rule`.
class Relax_MapOp<string mnemonic, string what, string text, Relax_Elements elements,
                  string rule, string resultElement, string attributes = "",
                  list<Trait> traits = []>
    : Relax_DeducedOp<mnemonic, [Pure] # traits> {
  let summary = what # ", element by element";
  let description = "\n    " # text # " " # elements.sentence # [{

    Example:

    ```mlir
    %y = relax.}] # mnemonic # " %x" # attributes # [{ : (tensor<?x4x}] # elements.example # [{, #relax.shape<[n, 4]>>) -> tensor<?x4x}] # resultElement # [{, #relax.shape<[n, 4]>>
    ```
  }];
  let deduce = "::mlir::relax::" # rule # "(deduction, operands, " # elements.enumerator # ", results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$x);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
}

class Relax_UnaryOp<string mnemonic, string what, string text,
                    Relax_Elements elements = Relax_Floats, string attributes = "">
    : Relax_MapOp<mnemonic, what, text, elements, "deduceUnary", elements.example, attributes>;

class Relax_PredicateOp<string mnemonic, string what, string text>
    : Relax_MapOp<mnemonic, what, text, Relax_Floats, "deducePredicate", "i1">;

/// Applying the op twice is the same as applying it once.
class Relax_IdempotentOp<string mnemonic, string what, string text,
                         Relax_Elements elements = Relax_Numbers>
    : Relax_UnaryOp<mnemonic, what, text, elements> {
  let hasFolder = 1;
}

// Arithmetic.
def Relax_AbsOp : Relax_IdempotentOp<"abs", "absolute value", "`x` without its sign; the least signed integer is unchanged.">;
def Relax_NegativeOp : Relax_UnaryOp<"negative", "negation", "`-x`. Integers wrap around.", Relax_Numbers> {
  let hasFolder = 1;
}
def Relax_SignOp : Relax_IdempotentOp<"sign", "sign", "-1 for a negative `x`, 0 for a zero of either sign, 1 for a positive `x`; NaN for NaN.">;
def Relax_SquareOp : Relax_UnaryOp<"square", "square", "`x * x`. Integers wrap around.", Relax_Numbers>;
def Relax_SqrtOp : Relax_UnaryOp<"sqrt", "square root", "The square root, correctly rounded; NaN below zero, -0 for -0.">;
def Relax_RsqrtOp : Relax_UnaryOp<"rsqrt", "reciprocal square root", "`1 / sqrt(x)`: infinite for zero, NaN below.">;

// Rounding.
def Relax_CeilOp : Relax_IdempotentOp<"ceil", "rounding up", "The least whole number that is not below `x`; integers are unchanged.">;
def Relax_FloorOp : Relax_IdempotentOp<"floor", "rounding down", "The greatest whole number that is not above `x`; integers are unchanged.">;
def Relax_RoundOp : Relax_IdempotentOp<"round", "rounding to nearest", "The nearest whole number, with ties to even: 0.5 gives 0, 1.5 gives 2. Integers are unchanged.">;
def Relax_TruncOp : Relax_IdempotentOp<"trunc", "rounding towards zero", "`x` without its fraction; integers are unchanged.">;

// Exponentials and logarithms.
def Relax_ExpOp : Relax_UnaryOp<"exp", "e to the power of x", "`e ** x`: infinite above the greatest float, 0 for minus infinity.">;
def Relax_Exp2Op : Relax_UnaryOp<"exp2", "2 to the power of x", "`2 ** x`.">;
def Relax_Expm1Op : Relax_UnaryOp<"expm1", "e to the power of x, minus one", "`e ** x - 1`, precise for small `x`.">;
def Relax_LogOp : Relax_UnaryOp<"log", "natural logarithm", "The natural logarithm: minus infinity for zero, NaN below.">;
def Relax_Log2Op : Relax_UnaryOp<"log2", "logarithm to base 2", "The logarithm to base 2: minus infinity for zero, NaN below.">;
def Relax_Log1pOp : Relax_UnaryOp<"log1p", "natural logarithm of one more", "`log(1 + x)`, precise for small `x`: minus infinity for -1, NaN below.">;

// Trigonometry.
def Relax_CosOp : Relax_UnaryOp<"cos", "cosine", "The cosine of an angle in radians; NaN for infinities.">;
def Relax_SinOp : Relax_UnaryOp<"sin", "sine", "The sine of an angle in radians; NaN for infinities.">;
def Relax_TanOp : Relax_UnaryOp<"tan", "tangent", "The tangent of an angle in radians; NaN for infinities.">;
def Relax_AcosOp : Relax_UnaryOp<"acos", "inverse cosine", "The angle in [0, pi] whose cosine is `x`; NaN outside [-1, 1].">;
def Relax_AsinOp : Relax_UnaryOp<"asin", "inverse sine", "The angle in [-pi/2, pi/2] whose sine is `x`; NaN outside [-1, 1].">;
def Relax_AtanOp : Relax_UnaryOp<"atan", "inverse tangent", "The angle in [-pi/2, pi/2] whose tangent is `x`.">;
def Relax_CoshOp : Relax_UnaryOp<"cosh", "hyperbolic cosine", "`(e ** x + e ** -x) / 2`.">;
def Relax_SinhOp : Relax_UnaryOp<"sinh", "hyperbolic sine", "`(e ** x - e ** -x) / 2`.">;
def Relax_TanhOp : Relax_UnaryOp<"tanh", "hyperbolic tangent", "`sinh(x) / cosh(x)`, in [-1, 1].">;
def Relax_AcoshOp : Relax_UnaryOp<"acosh", "inverse hyperbolic cosine", "The number that is not negative and whose `cosh` is `x`; NaN below 1.">;
def Relax_AsinhOp : Relax_UnaryOp<"asinh", "inverse hyperbolic sine", "The number whose `sinh` is `x`.">;
def Relax_AtanhOp : Relax_UnaryOp<"atanh", "inverse hyperbolic tangent", "The number whose `tanh` is `x`: infinite for -1 and 1, NaN outside.">;
def Relax_ErfOp : Relax_UnaryOp<"erf", "error function", "`2 / sqrt(pi)` times the integral of `exp(-t * t)` from 0 to `x`.">;

// Activations.
def Relax_ReluOp : Relax_IdempotentOp<"relu", "rectifier", "`maximum(x, 0)`; NaN stays NaN.">;
def Relax_LeakyReluOp : Relax_UnaryOp<"leakyrelu", "leaky rectifier", "`x` where it is positive, else `alpha * x`.", Relax_Floats, " {alpha = 0.2}"> {
  let arguments = (ins Relax_Tensor:$x, DefaultValuedAttr<F64Attr, "0.01">:$alpha);
}
def Relax_SigmoidOp : Relax_UnaryOp<"sigmoid", "logistic function", "`1 / (1 + exp(-x))`, without overflow for any `x`.">;
def Relax_SiluOp : Relax_UnaryOp<"silu", "sigmoid linear unit", "`x * sigmoid(x)`, also called swish; minus infinity gives NaN.">;
def Relax_GeluOp : Relax_UnaryOp<"gelu", "Gaussian error linear unit", "`x * (1 + erf(x / sqrt(2))) / 2`.">;
def Relax_GeluTanhOp : Relax_UnaryOp<"gelu_tanh", "Gaussian error linear unit, by tanh", "`x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2`.">;
def Relax_SeluOp : Relax_UnaryOp<"selu", "scaled exponential linear unit", "`scale * x` where `x` is positive, else `scale * alpha * (exp(x) - 1)`, with scale 1.0507009873554805 and alpha 1.6732632423543772.">;
def Relax_SoftplusOp : Relax_UnaryOp<"softplus", "smooth rectifier", "`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x` is above `threshold`. `beta` must not be 0.", Relax_Floats, " {beta = 2.0}"> {
  let deduce = "$cppClass::deduce(deduction, op, results)";
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult deduce(::mlir::relax::Deduction &deduction,
        Adaptor op, ::llvm::SmallVectorImpl<::mlir::Type> &results);
  }];
  let arguments = (ins Relax_Tensor:$x, DefaultValuedAttr<F64Attr, "1.0">:$beta,
                       DefaultValuedAttr<F64Attr, "20.0">:$threshold);
}
def Relax_HardSigmoidOp : Relax_UnaryOp<"hard_sigmoid", "piecewise linear logistic function", "`min(max(x + 3, 0), 6) / 6`.">;
def Relax_HardSwishOp : Relax_UnaryOp<"hard_swish", "piecewise linear swish", "`x * min(max(x + 3, 0), 6) / 6`.">;

// Logic.
def Relax_BitwiseNotOp : Relax_UnaryOp<"bitwise_not", "complement of each bit", "Every bit inverted: `-x - 1` for a signed integer, negation for a Boolean.", Relax_Bits> {
  let hasFolder = 1;
}
def Relax_LogicalNotOp : Relax_UnaryOp<"logical_not", "negation", "True where `x` is false.", Relax_Bools> {
  let hasFolder = 1;
}
def Relax_IsFiniteOp : Relax_PredicateOp<"isfinite", "whether x is finite", "True where `x` is neither infinite nor NaN.">;
def Relax_IsInfOp : Relax_PredicateOp<"isinf", "whether x is infinite", "True where `x` is plus or minus infinity.">;
def Relax_IsNanOp : Relax_PredicateOp<"isnan", "whether x is not a number", "True where `x` is NaN.">;

def Relax_AstypeOp : Relax_DeducedOp<"astype", [Pure]> {
  let summary = "conversion to another element type";
  let description = [{
    Converts each element to `dtype`, an integer or float type. To a float: rounded to
    nearest, ties to even, infinite if out of range (NaN in f8E4M3FN, which has no
    infinity). From a float to an integer: rounded towards zero, saturated to the range, 0
    for NaN. Between integers: truncated, or extended according to the signedness of the
    source; `i1` is 0 or 1. To `i1`: true if the element is nonzero or NaN.

    Example:

    ```mlir
    %y = relax.astype %x {dtype = f16} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf16, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, TypeAttr:$dtype);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
  let hasFolder = 1;
}

/// A bound of the elements' own kind, so that integers are not converted to
/// floats.
def Relax_BoundAttr : AnyAttrOf<[F64Attr, I64Attr], "a 64-bit float or integer">;

def Relax_ClipOp : Relax_DeducedOp<"clip", [Pure]> {
  let summary = "values limited to an interval";
  let description = [{
    `minimum(maximum(x, min), max)`, element by element: if `min` is above `max`, the
    result is `max`; NaN stays NaN. A missing bound does not limit. The elements are
    floats or integers of two or more bits; the bounds are floats for floats, integers for
    integers, and must be values of the element type (floats are rounded to it).

    Example:

    ```mlir
    %y = relax.clip %x {min = 0.0, max = 6.0} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x, OptionalAttr<Relax_BoundAttr>:$min, OptionalAttr<Relax_BoundAttr>:$max);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

class Relax_BroadcastOp<string mnemonic, string what, string text, Relax_Elements elements,
                        string rule, string resultElement, list<Trait> traits = []>
    : Relax_DeducedOp<mnemonic, [Pure] # traits> {
  let summary = what # ", element by element with broadcasting";
  let description = "\n    " # text # " " # elements.sentence # [{
    Both operands have the same element type.

    Example:

    ```mlir
    %z = relax.}] # mnemonic # [{ %x, %y : (tensor<?x4x}] # elements.example # [{, #relax.shape<[n, 4]>>, tensor<4x}] # elements.example # [{>) -> tensor<?x4x}] # resultElement # [{, #relax.shape<[n, 4]>>
    ```
  }];
  let deduce = "::mlir::relax::" # rule # "(deduction, operands, " # elements.enumerator # ", results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$lhs, Relax_Tensor:$rhs);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
}

class Relax_BinaryOp<string mnemonic, string what, string text,
                     Relax_Elements elements = Relax_Numbers, list<Trait> traits = []>
    : Relax_BroadcastOp<mnemonic, what, text, elements, "deduceBinary", elements.example, traits>;
class Relax_FoldedOp<string mnemonic, string what, string text,
                     Relax_Elements elements = Relax_Numbers, list<Trait> traits = []>
    : Relax_BinaryOp<mnemonic, what, text, elements, traits> {
  let hasFolder = 1;
}
class Relax_ComparisonOp<string mnemonic, string what, string text,
                         Relax_Elements elements = Relax_Numbers, list<Trait> traits = []>
    : Relax_BroadcastOp<mnemonic, what, text, elements, "deduceComparison", "i1", traits> {
  let hasFolder = 1;
}

// Arithmetic.
def Relax_AddOp : Relax_FoldedOp<"add", "sum", "`lhs + rhs`. Integers wrap around.", Relax_Numbers, [Commutative]>;
def Relax_SubtractOp : Relax_FoldedOp<"subtract", "difference", "`lhs - rhs`. Integers wrap around.">;
def Relax_MultiplyOp : Relax_FoldedOp<"multiply", "product", "`lhs * rhs`. Integers wrap around.", Relax_Numbers, [Commutative]>;
def Relax_DivideOp : Relax_FoldedOp<"divide", "quotient", "`lhs / rhs`: according to IEEE 754 for floats, rounded towards zero for integers. An integer divided by zero is 0; the least signed integer divided by -1 is unchanged.">;
def Relax_FloorDivideOp : Relax_FoldedOp<"floor_divide", "quotient rounded down", "`lhs / rhs`, rounded towards minus infinity. Floats follow NumPy: the quotient is computed from the exact remainder; it is NaN for an infinite `lhs`, and `lhs / rhs` (infinite or NaN) where `rhs` is zero. An integer divided by zero is 0; the least signed integer divided by -1 is unchanged.">;
def Relax_FloorModOp : Relax_BinaryOp<"floor_mod", "remainder of floor_divide", "`lhs - rhs * floor_divide(lhs, rhs)`: zero or with the sign of `rhs`, like `%` in Python. The remainder of a division by zero is 0 for integers and NaN for floats; it is also NaN for an infinite `lhs`.">;
def Relax_ModOp : Relax_BinaryOp<"mod", "remainder of the truncated quotient", "`lhs - rhs * trunc(lhs / rhs)`, exactly: zero or with the sign of `lhs`, like `fmod` and `%` in C. The remainder of a division by zero is 0 for integers and NaN for floats; it is also NaN for an infinite `lhs`.">;
def Relax_PowerOp : Relax_FoldedOp<"power", "power", "`lhs ** rhs`, with 1 for any `lhs` to the power of 0. A negative float to a power that is not a whole number is NaN. An integer to a negative power is the fraction rounded towards zero: 0, except for powers of 1 and -1; 0 for 0.">;
def Relax_MaximumOp : Relax_FoldedOp<"maximum", "the greater of two", "The greater operand; NaN where either is NaN. Of 0 and -0, the result is either.", Relax_Numbers, [Commutative]>;
def Relax_MinimumOp : Relax_FoldedOp<"minimum", "the lesser of two", "The lesser operand; NaN where either is NaN. Of 0 and -0, the result is either.", Relax_Numbers, [Commutative]>;
def Relax_Atan2Op : Relax_BinaryOp<"atan2", "angle of a point", "The angle in [-pi, pi] of the point with ordinate `lhs` and abscissa `rhs`.", Relax_Floats>;
def Relax_LogAddExpOp : Relax_BinaryOp<"log_add_exp", "logarithm of a sum of exponentials", "`log(exp(lhs) + exp(rhs))`, without overflow: minus infinity where both operands are, infinite where either operand is.", Relax_Floats, [Commutative]>;

// Bits.
def Relax_BitwiseAndOp : Relax_FoldedOp<"bitwise_and", "bitwise and", "The bits that are set in both operands.", Relax_Bits, [Commutative]>;
def Relax_BitwiseOrOp : Relax_FoldedOp<"bitwise_or", "bitwise or", "The bits that are set in either operand.", Relax_Bits, [Commutative]>;
def Relax_BitwiseXorOp : Relax_FoldedOp<"bitwise_xor", "bitwise exclusive or", "The bits that are set in exactly one operand.", Relax_Bits, [Commutative]>;
def Relax_LeftShiftOp : Relax_FoldedOp<"left_shift", "shift to the left", "`lhs * 2 ** rhs`, modulo 2 to the power of the width. 0 where `rhs` is negative or not below the width, as all bits are shifted out.", Relax_Integers>;
def Relax_RightShiftOp : Relax_FoldedOp<"right_shift", "shift to the right", "`lhs / 2 ** rhs`, rounded down: arithmetic for signed and signless elements, logical for unsigned ones. Where `rhs` is negative or not below the width all bits are shifted out: -1 for a negative `lhs`, else 0.", Relax_Integers>;

// Logic and comparison.
def Relax_LogicalAndOp : Relax_FoldedOp<"logical_and", "logical and", "True where both operands are true.", Relax_Bools, [Commutative]>;
def Relax_LogicalOrOp : Relax_FoldedOp<"logical_or", "logical or", "True where either operand is true.", Relax_Bools, [Commutative]>;
def Relax_LogicalXorOp : Relax_FoldedOp<"logical_xor", "logical exclusive or", "True where exactly one operand is true.", Relax_Bools, [Commutative]>;
def Relax_EqualOp : Relax_ComparisonOp<"equal", "equality", "True where the operands are equal; false for NaN.", Relax_AnyElements, [Commutative]>;
def Relax_NotEqualOp : Relax_ComparisonOp<"not_equal", "inequality", "True where the operands differ; true for NaN.", Relax_AnyElements, [Commutative]>;
def Relax_LessOp : Relax_ComparisonOp<"less", "strict order", "True where `lhs < rhs`; false for NaN.">;
def Relax_LessEqualOp : Relax_ComparisonOp<"less_equal", "order", "True where `lhs <= rhs`; false for NaN.">;
def Relax_GreaterOp : Relax_ComparisonOp<"greater", "reverse strict order", "True where `lhs > rhs`; false for NaN.">;
def Relax_GreaterEqualOp : Relax_ComparisonOp<"greater_equal", "reverse order", "True where `lhs >= rhs`; false for NaN.">;

def Relax_PReluOp : Relax_DeducedOp<"prelu", [Pure]> {
  let summary = "rectifier with a learned slope for each channel";
  let description = [{
    `data` where it is positive, else `alpha * data`. `alpha` has rank 1 and one slope for
    each index of dimension `axis` of `data`, or a single one. Both have the same float
    element type; negative axes count from the last.

    Example:

    ```mlir
    %y = relax.prelu %x, %alpha axis 1 : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>) -> tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Relax_Tensor:$alpha, DefaultValuedAttr<I64Attr, "1">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data `,` $alpha (`axis` $axis^)? attr-dict `:` functional-type(operands, $result)";
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

def Relax_WhereOp : Relax_DeducedOp<"where", [Pure]> {
  let summary = "choice between two tensors, element by element with broadcasting";
  let description = [{
    `x1` where `condition` is true, else `x2`. The condition is Boolean; `x1` and `x2`
    have the same element type. All three are broadcast against each other as in NumPy.

    Example:

    ```mlir
    %y = relax.where %c, %x1, %x2 : (tensor<?x1xi1, #relax.shape<[n, 1]>>, tensor<4xf32>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$condition, Relax_Tensor:$x1, Relax_Tensor:$x2);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$condition `,` $x1 `,` $x2 attr-dict `:` functional-type(operands, $result)";
  let hasFolder = 1;
}

def Relax_EwiseFMAOp : Relax_DeducedOp<"ewise_fma", [Pure]> {
  let summary = "product and sum, element by element with broadcasting";
  let description = [{
    `x1 * x2 + x3`; floats may be rounded once or twice. The elements are floats or
    integers of two or more bits, of the same type; integers wrap around.

    Example:

    ```mlir
    %y = relax.ewise_fma %x1, %x2, %x3 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$x1, Relax_Tensor:$x2, Relax_Tensor:$x3);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$x1 `,` $x2 `,` $x3 attr-dict `:` functional-type(operands, $result)";
}

#endif // RELAX_OPS_ELEMENTWISE_TD
