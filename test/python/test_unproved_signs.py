# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes and positions that are not declared non-negative: the sign is decided at run time."""

import itertools

import numpy as np
import pytest
import targets
from targets import COMPILED as RUNS_ON  # noqa: F401

from relax_mlir import BlockBuilder, Object, Range, RelaxError, Shape, Sym, Tensor, op

ONE_OF = 3

n, m = Sym("n"), Sym("m")
SIZES = list(itertools.product(range(5), repeat=2))


def program(body, *params):
    bb = BlockBuilder()
    with bb.function("main", params):
        result = body(*params)
        bb.return_(*(result if isinstance(result, tuple) else [result]))
    return targets.load(str(bb.module()))


def rows(size):
    return np.arange(3 * size, dtype=np.float32).reshape(size, 3)


SLICES = {
    "x[:n-1]": lambda n, m: slice(None, n - 1),
    "x[n-2:]": lambda n, m: slice(n - 2, None),
    "x[:m-2]": lambda n, m: slice(None, m - 2),
    "x[m-n:]": lambda n, m: slice(m - n, None),
    "x[n-3:m-1]": lambda n, m: slice(n - 3, m - 1),
    "x[m-3:n-m:2]": lambda n, m: slice(m - 3, n - m, 2),
    "x[n-2::-1]": lambda n, m: slice(n - 2, None, -1),
    "x[:m-2:-1]": lambda n, m: slice(None, m - 2, -1),
    "x[m-1:n-3:-2]": lambda n, m: slice(m - 1, n - 3, -2),
    "x[-m:]": lambda n, m: slice(-m, None),
}


# Slices behave as in Python for any sign of their positions; later ops use their size.
@pytest.mark.parametrize("name", SLICES)
def test_slices(name):
    make = SLICES[name]
    call = program(
        lambda x, _: (x[make(n, m)], op.sum(op.exp(x[make(n, m)]), axis=[0])), Tensor((n, 3)), Tensor((m,), "i64")
    )
    for rows_, others in SIZES:
        x = rows(rows_)
        part, sums = call("main", x, np.zeros(others, np.int64))
        expected = x[make(rows_, others)]
        np.testing.assert_array_equal(part, expected, strict=True)
        np.testing.assert_allclose(sums, np.exp(expected).sum(0), rtol=1e-5)


# A positive, a negative and a zero stride.
def test_strides():
    call = program(
        lambda x, _: op.strided_slice(x, [0], [n - 1], [m - 1], [m - 2]), Tensor((n, 3)), Tensor((m,), "i64")
    )
    for rows_, others in SIZES:
        x, stride = rows(rows_), others - 2
        if stride == 0:
            with pytest.raises(ValueError, match="main: strided_slice: a stride must not be 0"):
                call("main", x, np.zeros(others, np.int64))
            continue
        (part,) = call("main", x, np.zeros(others, np.int64))
        np.testing.assert_array_equal(part, x[rows_ - 1 : others - 1 : stride], strict=True)


# Several dimensions, and a slice of a slice.
def test_slices_of_slices():
    call = program(lambda x, _: x[: n - 1, m - 2 :][n - 3 :], Tensor((n, m)), Tensor((m,), "i64"))
    for rows_, columns in SIZES:
        x = np.arange(rows_ * columns, dtype=np.float32).reshape(rows_, columns)
        (part,) = call("main", x, np.zeros(columns, np.int64))
        np.testing.assert_array_equal(part, x[: rows_ - 1, columns - 2 :][rows_ - 3 :], strict=True)


# The positions of a split.
def test_splits():
    call = program(lambda x, _: tuple(op.split(x, [n - 2, m - 1], 0)), Tensor((n, 3)), Tensor((m,), "i64"))
    for rows_, others in SIZES:
        x = rows(rows_)
        parts = call("main", x, np.zeros(others, np.int64))
        for part, expected in zip(parts, (x[: rows_ - 2], x[rows_ - 2 : others - 1], x[others - 1 :]), strict=True):
            np.testing.assert_array_equal(part, expected, strict=True)


# The replacement of a slice has its size.
def test_slice_scatter():
    k = Sym("k")
    call = program(
        lambda x, y, _: op.slice_scatter(x, y, 0, n - 2, m - 1), Tensor((n, 3)), Tensor((k, 3)), Tensor((m,), "i64")
    )
    for rows_, others in SIZES:
        x = rows(rows_)
        expected = x.copy()
        y = -1 - expected[rows_ - 2 : others - 1]
        expected[rows_ - 2 : others - 1] = y
        (result,) = call("main", x, y, np.zeros(others, np.int64))
        np.testing.assert_array_equal(result, expected, strict=True)
        with pytest.raises(ValueError, match="slice_scatter: src must have the shape of the slice"):
            call("main", x, np.zeros((len(y) + 1, 3), np.float32), np.zeros(others, np.int64))


# A declared bound decides the sign when the program is compiled.
def test_declared_bound():
    bb = BlockBuilder()
    x = Tensor((n, 3))
    with bb.function("main", [x], symbols={"n": Range(1)}):
        part = x[: n - 1]
        assert part.shape == (n - 1, 3)
        bb.return_(part)
    call = targets.load(str(bb.module()))
    np.testing.assert_array_equal(call("main", rows(4))[0], rows(4)[:3])
    with pytest.raises(ValueError, match="symbol 'n' = 0 is below its declared bound 1"):
        call("main", rows(0))


# Negative sizes are errors of the call, with a hint on how to rule them out.
SHAPES = {
    "zeros": (lambda x: op.zeros((n - 1, 3), "f32"), lambda x: np.zeros((len(x) - 1, 3), np.float32)),
    "full": (lambda x: op.full((n - 1,), 2.0), lambda x: np.full(len(x) - 1, 2, np.float32)),
    "arange": (lambda x: op.arange(0, n - 1, 1, dtype="i64"), lambda x: np.arange(0, len(x) - 1)),
    "broadcast_to": (lambda x: op.broadcast_to(x[0:1], (n - 1, 3)), lambda x: np.broadcast_to(x[0:1], (len(x) - 1, 3))),
    "reshape": (lambda x: op.reshape(x[1:], (3, n - 1)), lambda x: x[1:].reshape(3, len(x) - 1)),
    "pad": (lambda x: op.pad(x, [n - 1, 0, 0, 0]), lambda x: np.pad(x, ((len(x) - 1, 0), (0, 0)))),
    "match_cast": (lambda x: op.match_cast(x[: n - 1], Tensor((n - 1, 3))), lambda x: x[: len(x) - 1]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    body, expected = SHAPES[name]
    call = program(body, Tensor((n, 3)))
    for size in (1, 2, 4):
        (result,) = call("main", rows(size))
        np.testing.assert_array_equal(result, expected(rows(size)), strict=True)
    if name == "arange":
        (result,) = call("main", rows(0))
        assert result.shape == (0,)
        return
    with pytest.raises(ValueError, match="n - 1 = -1" if name == "match_cast" else "n - 1.*-1.*; declare n >= 1"):
        call("main", rows(0))


# A parameter with unknown rank: the error says what to declare, and a cast resolves it.
@pytest.mark.parametrize("annotation", [Object(), Tensor(None)], ids=["object", "unranked"])
def test_unknown_ranks(annotation):
    with pytest.raises(RelaxError, match="declare a tensor of known rank, whose sizes a relax.match_cast may state"):
        program(lambda x: op.exp(op.match_cast(x, Tensor((n, 3)))), annotation)
    call = program(lambda x: op.exp(op.match_cast(x, Tensor((n, 3)))), Tensor((None, None)))
    np.testing.assert_allclose(call("main", rows(2))[0], np.exp(rows(2)), rtol=1e-5)
    with pytest.raises(ValueError, match="main: match_cast: dimension 1 must be 3, got 2"):
        call("main", rows(2)[:, :2])


# A shape from a caller may have any non-negative entries.
def test_given_shapes():
    call = program(lambda x, _: x[: m - 1], Tensor((n, 3)), Shape((m,)))
    np.testing.assert_array_equal(call("main", rows(4), (3,))[0], rows(4)[:2])
