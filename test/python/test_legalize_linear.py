# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of matmuls against NumPy."""

import numpy as np
import pytest
from elements import COMMON_FLOATS, DTYPES, FLOATS
from kernel_runner import AssertionFailed, assert_close, random, single
from targets import ALL as RUNS_ON  # noqa: F401

SIZES = {"n": (0, 1, 5), "m": (0, 1, 3), "k": (0, 1, 7)}


def shapes(dims, sizes):
    return tuple(dim if isinstance(dim, int) else sizes[dim] for dim in dims)


def assignments(*dims):
    """Every assignment of sizes to the symbols in the shapes."""
    names = sorted({dim for shape in dims for dim in shape if isinstance(dim, str) and dim in SIZES})
    grids = np.meshgrid(*[SIZES[name] for name in names], indexing="ij")
    for values in zip(*[grid.ravel() for grid in grids], strict=True):
        yield dict(zip(names, map(int, values), strict=True))
    if not names:
        yield {}


MATMULS = [
    (("n", "k"), ("k", "m"), ("n", "m")),
    ((3, 4), (4, 5), (3, 5)),
    (("n", "k"), ("k",), ("n",)),
    (("k",), ("k", "m"), ("m",)),
    (("k",), ("k",), ()),
    ((2, "n", "k"), ("k", "m"), (2, "n", "m")),
    (("n", 1, 3, "k"), (2, "k", "m"), ("n", 2, 3, "m")),
    (("n", 3, 4), ("n", 4, "m"), ("n", 3, "m")),
    (("n", 2, 3, "k"), ("k",), ("n", 2, 3)),
    (("k",), ("n", "k", 3), ("n", 3)),
]


# Every combination of ranks, with empty and unit dimensions; a sum over nothing is zero.
@pytest.mark.parametrize(("lhs", "rhs", "result"), MATMULS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_matmul(lhs, rhs, result, dtype):
    run = single("matmul %0, %1", [(*lhs, dtype), (*rhs, dtype)], (*result, dtype))
    for sizes in assignments(lhs, rhs):
        x, y = random(shapes(lhs, sizes), dtype), random(shapes(rhs, sizes), dtype, 1)
        assert_close(run("main", x, y)[0], np.matmul(x.astype(float), y.astype(float)), dtype)


# Narrow floats are summed in f32; integers wrap around, or are widened first.
@pytest.mark.parametrize(
    ("dtype", "out"),
    [("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ("f32", "f16"), ("f64", "f64"), ("i32", "i32"), ("i8", "i8")]
    + [("i8", "i32"), ("ui8", "i32"), ("i8", "f32")],
)
def test_matmul_types(dtype, out):
    attribute = "" if dtype == out else f" {{out_dtype = {out}}}"
    run = single(f"matmul %0, %1{attribute}", [("n", 100, dtype), (100, 5, dtype)], ("n", 5, out))
    x, y = random((4, 100), dtype), random((100, 5), dtype, seed=1)
    wide = np.int64 if out.startswith("i") else np.float64
    assert_close(run("main", x, y)[0], (x.astype(wide) @ y.astype(wide)).astype(DTYPES[out]), out)


# Contracted dimensions must be equal, which is checked before the kernel runs; batches may broadcast.
def test_matmul_guards():
    run = single("matmul %0, %1", [("n", "k", "f32"), ("j", "m", "f32")], ("n", "m", "f32"))
    x, y = random((3, 4)), random((4, 2))
    assert_close(run("main", x, y)[0], x @ y, "f32")
    for bad in ((5, 2), (1, 2), (0, 2)):
        with pytest.raises(AssertionFailed, match="dimension 0 must be|argument 1|sizes must be equal"):
            run("main", x, random(bad))
    run = single("matmul %0, %1", [("b", 2, 3, "f32"), ("c", 3, 2, "f32")], ("broadcast(b, c)", 2, 2, "f32"))
    for b, c in ((1, 4), (4, 1), (4, 4), (1, 1), (1, 0)):
        x, y = random((b, 2, 3)), random((c, 3, 2))
        assert_close(run("main", x, y)[0], x @ y, "f32")
    with pytest.raises(AssertionFailed, match=r"cannot broadcast|broadcast\(b, c\) is undefined"):
        run("main", random((2, 2, 3)), random((3, 3, 2)))


# The weight is read in its memory order; the bias is added before rounding.
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32"])
@pytest.mark.parametrize("lead", [(), ("n",), ("n", "m")])
def test_linear(dtype, lead):
    for bias in (False, True):
        operands = [(*lead, "k", dtype), (6, "k", dtype)] + ([(6, dtype)] if bias else [])
        run = single(f"linear %0, %1{', %2' if bias else ''}", operands, (*lead, 6, dtype))
        for sizes in assignments((*lead, "k")):
            x, w = random(shapes((*lead, "k"), sizes), dtype), random((6, sizes["k"]), dtype, 1)
            b = random((6,), dtype, 2)
            wide = np.int64 if dtype == "i32" else np.float64
            expected = x.astype(wide) @ w.astype(wide).T + (b.astype(wide) if bias else 0)
            assert_close(run("main", x, w, b)[0] if bias else run("main", x, w)[0], expected, dtype)


# The outer product of all pairs.
@pytest.mark.parametrize("dtype", [*COMMON_FLOATS, "i8"])
def test_outer(dtype):
    run = single("outer %0, %1", [("n", dtype), ("m", dtype)], ("n", "m", dtype))
    for n, m in ((0, 3), (1, 1), (5, 7)):
        x, y = random((n,), dtype), random((m,), dtype, 1)
        wide = np.int64 if dtype == "i8" else np.float64
        assert_close(run("main", x, y)[0], np.outer(x.astype(wide), y.astype(wide)).astype(x.dtype), dtype)


EINSUMS = [
    ("ij,jk->ik", [("n", "k"), ("k", "m")], ("n", "m")),
    ("bij,bjk", [("n", 2, 3), ("n", 3, 4)], (2, 4)),
    ("ii->i", [(4, 4)], (4,)),
    ("ii", [("n", "n")], ()),
    ("i,i->", [("n",), ("n",)], ()),
    ("ij->ji", [("n", "m")], ("m", "n")),
    ("...ij,jk->...ik", [("n", 5, 2, 3), (3, 4)], ("n", 5, 2, 4)),
    ("...i->...", [("n", "m", 3)], ("n", "m")),
    ("i,j,k->kji", [("n",), ("m",), (4,)], (4, "m", "n")),
    ("ij,j->i", [("n", 3), (1,)], ("n",)),
    ("a...,a...->...", [("n", 1, 4), ("n", 3, 1)], (3, 4)),
    ("...->", [("n", 3)], ()),
]


# Diagonals, traces, ellipses, sums and broadcast dimensions of size one.
@pytest.mark.parametrize(("subscripts", "operands", "result"), EINSUMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_einsum(subscripts, operands, result, dtype):
    names = ", ".join(f"%{index}" for index in range(len(operands)))
    run = single(f'einsum "{subscripts}"({names})', [(*dims, dtype) for dims in operands], (*result, dtype))
    for sizes in assignments(*operands):
        values = [random(shapes(dims, sizes), dtype, index) for index, dims in enumerate(operands)]
        if "->" not in subscripts or subscripts != "...->":
            expected = np.einsum(subscripts, *[value.astype(float) for value in values])
        else:
            expected = values[0].astype(float).sum()
        assert_close(run("main", *values)[0], expected, dtype)
