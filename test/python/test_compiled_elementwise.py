# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise ops as machine code: all ops of the table, in whole vectors and remainders."""

from functools import lru_cache

import ml_dtypes
import numpy as np
import pytest
import targets
from targets import COMPILED as RUNS_ON  # noqa: F401
from test_legalize_elementwise import BINARY, DTYPES, INTS, PREDICATES, UNARY, check, compute, numbers

from relax_mlir import BlockBuilder, Tensor, op

ONE_OF = 6  # all ops by all element types
FLOATS = ("f32", "f16", "bf16", "f64")
SIZES = (0, 1, 37)


@lru_cache
def _load(dtype, target):
    """Each op of the tables that supports the type, on shapes [n]."""
    functions = []
    operand = f"tensor<?x{dtype}, #relax.shape<[n]>>"
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for text, (_, dtypes) in table.items():
            if dtype not in dtypes:
                continue
            name, _, attributes = text.partition(" ")
            result = operand.replace(f"x{dtype}", "xi1") if name in PREDICATES else operand
            names = ["%x", "%y"][:arity]
            functions.append(f"""
                relax.func @{name}({", ".join(f"{x}: {operand}" for x in names)}) -> {result} {{
                  %0 = relax.{name} {", ".join(names)} {attributes} : ({", ".join([operand] * arity)}) -> {result}
                  relax.return %0 : {result}
                }}""")
    return targets.LOADERS[target]("\n".join(functions))


def run(name, dtype, *arguments):
    """The result of the op on the current target."""
    return _load(dtype, targets.current)(name, *arguments)[0]


def cases(table, wanted):
    return [
        pytest.param(text, dtype, id=f"{text.split()[0]}-{dtype}")
        for text in table
        for dtype in table[text][1]
        if dtype in wanted
    ]


# Each unary op compiles, and gives the same results as NumPy, including special values.
@pytest.mark.parametrize(("text", "dtype"), cases(UNARY, (*FLOATS, *INTS, "i1")))
def test_unary(text, dtype):
    name = text.split()[0]
    for size in SIZES:
        x = numbers(dtype, size, size)
        actual = run(name, dtype, x)
        check(actual, compute(UNARY[text][0], dtype, x), "i1" if name in PREDICATES else dtype)


# Each binary op on floats compiles, and gives the same results as NumPy.
@pytest.mark.parametrize(("text", "dtype"), cases(BINARY, FLOATS))
def test_binary(text, dtype):
    for size in SIZES:
        x, y = numbers(dtype, size, size), numbers(dtype, size, size + 100)
        actual = run(text, dtype, x, y)
        check(actual, compute(BINARY[text][0], dtype, x, y), "i1" if text in PREDICATES else dtype)


# Far outside of its domain, a function gives NaN; growing functions become infinite.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", "acos acosh asin asinh atan atanh cosh exp log log1p log2 sinh sqrt tanh".split())
def test_far_arguments(name, dtype):
    kind = np.dtype(DTYPES[dtype])
    far = np.geomspace(1, float(np.finfo(np.float32).max if dtype == "bf16" else np.finfo(kind).max), 80)
    with np.errstate(over="ignore"):
        x = np.concatenate([far, -far, [np.inf, -np.inf]]).astype(kind)
    check(run(name, dtype, x), compute(UNARY[name][0], dtype, x), dtype)


# Ties are rounded to the even integer.
@pytest.mark.parametrize("dtype", FLOATS)
def test_halves_are_rounded_to_even(dtype):
    x = (np.arange(-40, 41) / 4).astype(DTYPES[dtype])
    np.testing.assert_array_equal(run("round", dtype, x), np.rint(x.astype(np.float64)).astype(DTYPES[dtype]))


# Powers of two are as accurate far from zero as near it.
@pytest.mark.parametrize(("dtype", "least", "most"), [("f32", -126, 128), ("f64", -1022, 1024)])
def test_powers_of_two(dtype, least, most):
    x = np.random.default_rng(0).uniform(least, most, 2000).astype(DTYPES[dtype])
    x = np.concatenate([x, np.arange(least, most).astype(x.dtype)])
    expected = np.exp2(x.astype(np.longdouble)).astype(x.dtype)
    np.testing.assert_array_max_ulp(run("exp2", dtype, x), expected, 6)


# Powers of integers are exact, and other powers as accurate, even if the result's exponent has ten bits.
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_powers(dtype):
    kind, random = np.dtype(DTYPES[dtype]), np.random.default_rng(0)
    whole = np.array([(base, power) for base in range(-9, 10) for power in range(8)])
    most = -np.log2(float(np.finfo(kind).tiny))
    bases = np.concatenate(
        [
            whole[:, 0],
            random.uniform(0, 9, 500),
            np.exp2(random.uniform(-most, most, 500)),
            1 + 2.0 ** -np.arange(2, 20),
        ]
    ).astype(kind)
    powers = np.concatenate(
        [whole[:, 1], random.uniform(-9, 9, 500), random.uniform(-1, 1, 500), 2.0 ** np.arange(2, 20)]
    ).astype(kind)
    expected = np.power(bases.astype(np.longdouble), powers.astype(np.longdouble)).astype(kind)
    found = run("power", dtype, bases, powers)
    np.testing.assert_array_max_ulp(found, expected, 4)
    np.testing.assert_array_equal(found[: len(whole)], expected[: len(whole)])
    # 1 to any power is 1, and any number to the first power is itself.
    np.testing.assert_array_equal(run("power", dtype, np.ones(500, kind), bases[-500:]), np.ones(500, kind))
    far = np.array([np.finfo(kind).max, np.finfo(kind).tiny, np.inf, -np.inf, 0.0, 1e30], kind)
    np.testing.assert_array_equal(run("power", dtype, far, np.ones_like(far)), far)


# 8-bit floats are converted from integers of all types, and compared.
@pytest.mark.parametrize("small", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_integers_to_small_floats(dtype, small):
    x = np.arange(-128, 257).astype(dtype)
    bb = BlockBuilder()
    with bb.function("main", [Tensor(x.shape, dtype, name="x")]) as function:
        y = bb.emit(op.astype(*function.params, small))
        bb.return_((y, op.nonzero(y)))
    found, places = targets.load(str(bb.module()))("main", x)
    np.testing.assert_array_equal(found.astype(np.float32), x.astype(np.float32).astype(small).astype(np.float32))
    np.testing.assert_array_equal(np.ravel(places), np.flatnonzero(x))


# Functions that are nearly the identity at zero keep small arguments, including signs of zeros.
@pytest.mark.parametrize("size", [1, 37])
@pytest.mark.parametrize(("dtype", "tolerance"), [("f64", 4e-16), ("f32", 4e-7)])
@pytest.mark.parametrize("name", "log1p expm1 sin sinh tan tanh asin asinh atan atanh".split())
def test_small_arguments(name, dtype, tolerance, size):
    x = np.geomspace(1e-30, 0.3, size).astype({"f64": np.float64, "f32": np.float32}[dtype])
    for argument in (x, -x, 0 * x, -0.0 * x):
        actual = run(name, dtype, argument)
        expected = UNARY[name][0](argument.astype(np.longdouble)).astype(argument.dtype)
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=0)
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(argument))


# The angles of large numbers depend on all of their bits; the last numbers of each type are next to a multiple of pi/2,
# where a reduction loses most. Numbers on both sides of the limit of the reduction for small ones.
def test_large_angles():
    large = [1e4, 1e5, 1e7, 1e20, 3.4e38, 8191.9, 8192, 8192.1, 2**22 - 0.5, 2**22, 2**22 + 0.5, 9368.2607]
    for dtype, kind, more in (
        ("f32", np.float32, [16367173 * 2.0**72]),
        ("f64", np.float64, [1.7e308, 6381956970095103 * 2.0**797]),
    ):
        x = np.array([*large, *more], kind)
        x = np.concatenate([x, -x, [np.inf, -np.inf, np.nan]]).astype(kind)
        for name in ("sin", "cos", "tan"):
            with np.errstate(all="ignore"):
                expected = UNARY[name][0](x.astype(np.float64))
            check(run(name, dtype, x), expected, dtype)
