# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of element-wise ops against NumPy: one table of all ops, including special values."""

import math
from functools import lru_cache

import numpy as np
import pytest
from elements import DTYPES, FLOATS, TOLERANCES
from kernel_runner import AssertionFailed, Program, single, tensor_type

RUNS_ON = ("interpreter",)  # test_compiled_elementwise.py compiles all of these ops together

INTS = ("i8", "i32", "i64", "ui8")
BOOLS = ("i1",)
NUMBERS = FLOATS + INTS

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def ramp(x):
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


def no_zero(function):
    """Makes integer division by zero give 0."""
    return lambda x, y: (
        np.where(y == 0, 0, function(x, np.where(y == 0, 1, y))) if x.dtype.kind in "iu" else function(x, y)
    )


def truncated(x, y):
    if x.dtype.kind == "f":
        return x / y
    quotient = np.abs(x.astype(object)) // np.abs(y.astype(object))
    return np.where((x < 0) != (y < 0), -quotient, quotient).astype(object)


def power(x, y):
    """Integer powers modulo 2 to the power of the width. NumPy rejects negative exponents, whose results are fractions
    rounded towards zero, and 0 for base 0."""
    if x.dtype.kind == "f":
        return np.power(x, y)
    bits = 8 * x.dtype.itemsize

    def one(base, exponent):
        if exponent < 0:
            return base**-exponent if abs(base) == 1 else 0
        return pow(base, exponent, 1 << bits)

    values = [one(int(a), int(b)) & ((1 << bits) - 1) for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return np.array(values, np.uint64).reshape(x.shape).astype(x.dtype)


UNARY = {
    "abs": (np.abs, NUMBERS),
    "negative": (np.negative, NUMBERS),
    "sign": (np.sign, NUMBERS),
    "square": (np.square, NUMBERS),
    "sqrt": (np.sqrt, FLOATS),
    "rsqrt": (lambda x: 1 / np.sqrt(x), FLOATS),
    "ceil": (np.ceil, NUMBERS),
    "floor": (np.floor, NUMBERS),
    "round": (np.round, NUMBERS),
    "trunc": (np.trunc, NUMBERS),
    "exp": (np.exp, FLOATS),
    "exp2": (np.exp2, FLOATS),
    "expm1": (np.expm1, FLOATS),
    "log": (np.log, FLOATS),
    "log2": (np.log2, FLOATS),
    "log1p": (np.log1p, FLOATS),
    "cos": (np.cos, FLOATS),
    "sin": (np.sin, FLOATS),
    "tan": (np.tan, FLOATS),
    "acos": (np.arccos, FLOATS),
    "asin": (np.arcsin, FLOATS),
    "atan": (np.arctan, FLOATS),
    "cosh": (np.cosh, FLOATS),
    "sinh": (np.sinh, FLOATS),
    "tanh": (np.tanh, FLOATS),
    "acosh": (np.arccosh, FLOATS),
    "asinh": (np.arcsinh, FLOATS),
    "atanh": (np.arctanh, FLOATS),
    "erf": (erf, FLOATS),
    "relu": (lambda x: np.maximum(x, 0), NUMBERS),
    "leakyrelu {alpha = 0.2}": (lambda x: np.where(x > 0, x, x * 0.2), FLOATS),
    "sigmoid": (sigmoid, FLOATS),
    "silu": (lambda x: x * sigmoid(x), FLOATS),
    "gelu": (lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, FLOATS),
    "gelu_tanh": (lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2, FLOATS),
    "selu": (selu, FLOATS),
    "softplus {beta = 2.0}": (lambda x: np.where(2 * x > 20, x, np.log1p(np.exp(2 * x)) / 2), FLOATS),
    "hard_sigmoid": (ramp, FLOATS),
    "hard_swish": (lambda x: x * ramp(x), FLOATS),
    "bitwise_not": (np.invert, INTS + BOOLS),
    "logical_not": (np.logical_not, BOOLS),
    "isfinite": (np.isfinite, FLOATS),
    "isinf": (np.isinf, FLOATS),
    "isnan": (np.isnan, FLOATS),
    "clip {max = 6.0, min = -1.5}": (lambda x: np.clip(x, -1.5, 6), FLOATS),
    "clip {max = 6, min = 2}": (lambda x: np.clip(x, 2, 6), INTS),
}

BINARY = {
    "add": (np.add, NUMBERS),
    "subtract": (np.subtract, NUMBERS),
    "multiply": (np.multiply, NUMBERS),
    "divide": (no_zero(truncated), NUMBERS),
    "floor_divide": (no_zero(np.floor_divide), NUMBERS),
    "floor_mod": (no_zero(np.mod), NUMBERS),
    "mod": (no_zero(np.fmod), NUMBERS),
    "power": (power, NUMBERS),
    "maximum": (np.maximum, NUMBERS),
    "minimum": (np.minimum, NUMBERS),
    "atan2": (np.arctan2, FLOATS),
    "log_add_exp": (np.logaddexp, FLOATS),
    "bitwise_and": (np.bitwise_and, INTS + BOOLS),
    "bitwise_or": (np.bitwise_or, INTS + BOOLS),
    "bitwise_xor": (np.bitwise_xor, INTS + BOOLS),
    "left_shift": (np.left_shift, INTS),
    "right_shift": (np.right_shift, INTS),
    "logical_and": (np.logical_and, BOOLS),
    "logical_or": (np.logical_or, BOOLS),
    "logical_xor": (np.logical_xor, BOOLS),
    "equal": (np.equal, NUMBERS + BOOLS),
    "not_equal": (np.not_equal, NUMBERS + BOOLS),
    "less": (np.less, NUMBERS),
    "less_equal": (np.less_equal, NUMBERS),
    "greater": (np.greater, NUMBERS),
    "greater_equal": (np.greater_equal, NUMBERS),
}

PREDICATES = {"isfinite", "isinf", "isnan", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
SIZES = (0, 1, 2, 7, 64)


def numbers(dtype, shape, seed=0):
    """Random numbers, including all special values of the type if they fit."""
    random = np.random.default_rng(seed)
    kind = np.dtype(DTYPES[dtype])
    if dtype == "i1":
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        values = random.integers(max(info.min, -100), min(info.max, 100), shape).astype(kind)
        special = [info.min, info.max, 0, -1 & info.max if info.min == 0 else -1, 1]
    else:
        values = (random.standard_normal(shape) * 3).astype(kind)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1.5, 2.5, -3.0, 100.0, -100.0]
    if values.size > 20:
        places = random.permutation(values.size)[: len(special)]
        values.ravel()[places] = np.array(special, dtype=kind) if kind.kind not in "iu" else special
    return values


def check(actual, expected, dtype):
    assert actual.dtype == DTYPES[dtype] and actual.shape == expected.shape
    if dtype.startswith(("f", "bf")):
        tolerance = max(TOLERANCES[dtype], 1e-9)
        with np.errstate(all="ignore"):
            expected = expected.astype(DTYPES[dtype]).astype(np.float64)
        np.testing.assert_allclose(actual.astype(np.float64), expected, tolerance, tolerance / 100)
    else:
        np.testing.assert_array_equal(actual, expected)


@lru_cache
def program(dtype):
    """Each op of the tables that supports the type, on shapes [n, m]."""
    functions = []
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for text, (_, dtypes) in table.items():
            if dtype not in dtypes:
                continue
            name, _, attributes = text.partition(" ")
            operand = tensor_type(("n", "m"), dtype)
            result = tensor_type(("n", "m"), "i1" if name in PREDICATES else dtype)
            names = ["%x", "%y"][:arity]
            functions.append(f"""
                relax.func @{name}({", ".join(f"{x}: {operand}" for x in names)}) -> {result} {{
                  %0 = relax.{name} {", ".join(names)} {attributes} : ({", ".join([operand] * arity)}) -> {result}
                  relax.return %0 : {result}
                }}""")
    return Program("\n".join(functions))


def cases(table):
    return [pytest.param(text, dtype, id=f"{text.split()[0]}-{dtype}") for text in table for dtype in table[text][1]]


def compute(reference, dtype, *operands):
    """The reference, computed in the kernels' compute type."""
    if dtype in ("f16", "bf16", "f32"):
        operands = [operand.astype(np.float32) for operand in operands]
    with np.errstate(all="ignore"):
        return np.asarray(reference(*operands))


# Each unary op gives the same results as NumPy, for every size and every special value.
@pytest.mark.parametrize(("text", "dtype"), cases(UNARY))
def test_unary(text, dtype):
    name = text.split()[0]
    for size in SIZES:
        x = numbers(dtype, (size, 5), size)
        (actual,) = program(dtype)(name, x)
        check(actual, compute(UNARY[text][0], dtype, x), "i1" if name in PREDICATES else dtype)


# Each binary op gives the same results as NumPy; dividing an integer by zero gives zero.
@pytest.mark.parametrize(("text", "dtype"), cases(BINARY))
def test_binary(text, dtype):
    for size in SIZES:
        x, y = numbers(dtype, (size, 5), size), numbers(dtype, (size, 5), size + 100)
        if size > 2 and dtype.startswith("i") and dtype != "i1":
            x[0, :2], y[0, :2] = np.iinfo(x.dtype).min, (-1, 0)
        with np.errstate(all="ignore"):
            expected = compute(BINARY[text][0], dtype, x, y)
            if dtype != "i1" and text not in PREDICATES and dtype in INTS:
                expected = np.array([int(value) for value in expected.ravel()], object).reshape(x.shape)
                bits = 8 * x.dtype.itemsize
                expected = (expected & ((1 << bits) - 1)).astype(np.uint64).astype(x.dtype).reshape(x.shape)
        (actual,) = program(dtype)(text, x, y)
        check(actual, expected, "i1" if text in PREDICATES else dtype)


# Converting a double to a narrow float rounds once.
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_double(dtype):
    run = Program(f"""
        relax.func @main(%x: {tensor_type(("n",), "f64")}) -> {tensor_type(("n",), dtype)} {{
          %0 = relax.astype %x {{dtype = {dtype}}} : ({tensor_type(("n",), "f64")}) -> {tensor_type(("n",), dtype)}
          relax.return %0 : {tensor_type(("n",), dtype)}
        }}""")
    steps = {"f16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    x = np.array(
        [1 + steps, 1 + steps + 2.0**-40, 1 + steps - 2.0**-40, 1 + 3 * steps, 1e300, -1e300, np.nan, 0.0, -0.0]
    )
    x = np.concatenate([x, np.random.default_rng(0).standard_normal(1000)])
    with np.errstate(all="ignore"):
        # ml_dtypes rounds a double to bf16 through f32.
        expected = x.astype(np.float16) if dtype == "f16" else x.astype(DTYPES[dtype])
    if dtype == "bf16":
        expected[1] = 1 + 2 * steps
        expected[2] = 1
    np.testing.assert_array_equal(run("main", x)[0].astype(np.float64), expected.astype(np.float64))


CONVERSIONS = [(a, b) for a in (*FLOATS, *INTS, *BOOLS) for b in (*FLOATS, *INTS, *BOOLS)]


# Conversions between every two element types match NumPy.
def test_astype():
    functions = []
    for a, b in CONVERSIONS:
        operand, result = tensor_type(("n",), a), tensor_type(("n",), b)
        functions.append(f"""
            relax.func @{a}_{b}(%x: {operand}) -> {result} {{
              %0 = relax.astype %x {{dtype = {b}}} : ({operand}) -> {result}
              relax.return %0 : {result}
            }}""")
    run = Program("\n".join(functions))
    for a, b in CONVERSIONS:
        low, high = (0, 100) if "u" in a + b else (-100, 100)
        x = np.linspace(low, high, 51).astype(DTYPES[a])
        x[0] = 0
        (actual,) = run(f"{a}_{b}", x)
        np.testing.assert_array_equal(actual, x.astype(DTYPES[b]), err_msg=f"{a} to {b}")


def broadcasting(lhs, rhs, result):
    lhs, rhs, result = (tensor_type(dims, "f32") for dims in (lhs, rhs, result))
    return Program(f"""
        relax.func @main(%x: {lhs}, %y: {rhs}) -> {result} {{
          %0 = relax.add %x, %y : ({lhs}, {rhs}) -> {result}
          relax.return %0 : {result}
        }}""")


# Known and unknown dimensions broadcast; a mismatch is an error before the kernel runs.
@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "shapes", "bad"),
    [
        ((3, 4), (4,), (3, 4), [((3, 4), (4,))], []),
        ((3, 1), (1, 4), (3, 4), [((3, 1), (1, 4))], []),
        ((), ("n",), ("n",), [((), (5,)), ((), (0,))], []),
        (("n", 4), ("n", 1), ("n", 4), [((5, 4), (5, 1)), ((0, 4), (0, 1)), ((1, 4), (1, 1))], []),
        (
            ("n",),
            ("m",),
            ("broadcast(n, m)",),
            [((5,), (1,)), ((1,), (5,)), ((5,), (5,)), ((1,), (0,)), ((0,), (1,)), ((1,), (1,))],
            [((5,), (3,)), ((5,), (0,)), ((0,), (3,))],
        ),
        (("n", "k"), ("m", 3), ("broadcast(n, m)", 3), [((2, 1), (1, 3)), ((1, 3), (2, 3))], [((2, 2), (2, 3))]),
        (("n",), (4,), (4,), [((4,), (4,)), ((1,), (4,))], [((3,), (4,)), ((0,), (4,))]),
    ],
)
def test_broadcasting(lhs, rhs, result, shapes, bad):
    run = broadcasting(lhs, rhs, result)
    for x_shape, y_shape in shapes:
        x, y = numbers("f32", x_shape, 1), numbers("f32", y_shape, 2)
        check(run("main", x, y)[0], x + y, "f32")
    for x_shape, y_shape in bad:
        with pytest.raises(AssertionFailed):
            run("main", np.zeros(x_shape, np.float32), np.zeros(y_shape, np.float32))


# Three operands broadcast; the condition is Boolean.
def test_where_and_fma():
    where = single("where %0, %1, %2", [("n", 1, "i1"), (4, "f32"), ("f32",)], ("n", 4, "f32"))
    c, x, y = numbers("i1", (7, 1)), numbers("f32", (4,)), np.array(2.5, np.float32)
    check(where("main", c, x, y)[0], np.where(c, x, y), "f32")
    fma = single("ewise_fma %0, %1, %2", [("n", 4, "i32"), (4, "i32"), ("i32",)], ("n", 4, "i32"))
    x, y, z = numbers("i32", (7, 4)), numbers("i32", (4,)), np.array(3, np.int32)
    check(fma("main", x, y, z)[0], x * y + 3, "i32")


# A scalar constant is part of the kernel.
def test_constant_operand():
    operand = tensor_type(("n", 4), "f16")
    run = Program(f"""
        relax.func @main(%x: {operand}) -> {operand} {{
          %c = relax.constant dense<0.1> : tensor<1x4xf16>
          %0 = relax.multiply %x, %c : ({operand}, tensor<1x4xf16>) -> {operand}
          relax.return %0 : {operand}
        }}""")
    x = numbers("f16", (7, 4))
    check(run("main", x)[0], x.astype(np.float32) * np.float32(np.float16(0.1)), "f16")


# One slope per channel, or one for all, depending on the size.
def test_prelu():
    run = single("prelu %0, %1 axis 1", [("n", 4, 2, "f32"), ("m", "f32")], ("n", 4, 2, "f32"))
    x = numbers("f32", (3, 4, 2))
    for size in (1, 4):
        a = numbers("f32", (size,))
        with np.errstate(all="ignore"):
            check(run("main", x, a)[0], np.where(x > 0, x, x * a[:, None]), "f32")
    with pytest.raises(AssertionFailed):
        run("main", x, np.zeros(3, np.float32))
