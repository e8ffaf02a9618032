# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of reductions and scans against NumPy."""

import numpy as np
import pytest
from elements import COMMON_FLOATS, DTYPES, FLOATS
from kernel_runner import AssertionFailed, assert_close, random, single
from targets import ALL as RUNS_ON  # noqa: F401


def logsumexp(x, axis=None, keepdims=False):
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


NUMBERS = [*FLOATS, "i8", "i32", "ui8"]
OPS = {
    "sum": (np.sum, NUMBERS),
    "prod": (np.prod, NUMBERS),
    "mean": (np.mean, FLOATS),
    "variance": (np.var, FLOATS),
    "std": (np.std, FLOATS),
    "max": (np.max, NUMBERS),
    "min": (np.min, NUMBERS),
    "logsumexp": (logsumexp, FLOATS),
    "any": (np.any, ["i1"]),
    "all": (np.all, ["i1"]),
}
AXES = [(None, ()), ((-1,), ("n", "m")), ((0,), ("m", 3)), ((2, 0), ("m",)), ((), ("n", "m", 3))]
NEEDS_ELEMENTS = {"max", "min", "argmax", "argmin"}


def kept_dims(axes):
    axes = range(3) if axes is None else [axis % 3 for axis in axes]
    return tuple(1 if axis in axes else dim for axis, dim in enumerate(("n", "m", 3)))


# Every op over every choice of axes, with and without keeping them, also for empty tensors.
@pytest.mark.parametrize(("op", "dtype"), [(op, dtype) for op in OPS for dtype in OPS[op][1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduction(op, dtype, keepdims):
    reference = OPS[op][0]
    for axes, dims in AXES if dtype in ("f32", "i8", "i1") else AXES[1:2]:
        text = f"{op} %0" + ("" if axes is None else f" axis {list(axes)}") + (" keepdims" if keepdims else "")
        result = kept_dims(axes) if keepdims else dims
        run = single(text, [("n", "m", 3, dtype)], (*result, dtype))
        for n, m in ((0, 2), (2, 0), (1, 1), (5, 7)):
            x = random((n, m, 3), dtype)
            if op == "prod" and x.dtype.kind not in "iub":
                x = (np.abs(x) + 0.5).astype(x.dtype)
            reduced = range(3) if axes is None else [axis % 3 for axis in axes]
            if op in NEEDS_ELEMENTS and any(x.shape[axis] == 0 for axis in reduced):
                with pytest.raises(AssertionFailed, match="reduced dimensions must not be empty"):
                    run("main", x)
                continue
            wide = x.astype(np.float64) if dtype in FLOATS else x
            with np.errstate(all="ignore"):
                expected = reference(wide, axis=axes, keepdims=keepdims)
            if dtype in ("i8", "ui8"):
                expected = np.asarray(expected).astype(np.int64).astype(DTYPES[dtype])
            (actual,) = run("main", x)
            if op == "prod":
                tolerance = {"f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}.get(dtype, 1e-9)
                np.testing.assert_allclose(actual.astype(float), np.asarray(expected).astype(float), tolerance)
            else:
                assert_close(actual, expected, dtype)


# NaN is the greatest and the least; infinities neither overflow nor vanish.
def test_special_values():
    rows = np.array([[1, np.nan, 3], [np.inf, 1, 2], [-np.inf] * 3, [-np.inf, 0, np.inf]], np.float32)
    for op in ("max", "min", "logsumexp", "sum"):
        (actual,) = single(f"{op} %0 axis [1]", [("n", 3, "f32")], ("n", "f32"))("main", rows)
        with np.errstate(all="ignore"):
            expected = OPS[op][0](rows.astype(np.float64), axis=1)
        assert_close(actual, expected, "f32")


# The position of the first of equal elements, where NaN comes before all others; without an axis, of the flattened
# tensor.
@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [*COMMON_FLOATS, "i8", "ui8"])
def test_positions(op, dtype):
    reference = getattr(np, op)
    for axis, keepdims, dims in (
        (1, False, ("n", 3)),
        (-1, True, ("n", "m", 1)),
        (None, False, ()),
        (None, True, (1, 1, 1)),
    ):
        text = f"{op} %0" + ("" if axis is None else f" axis {axis}") + (" keepdims" if keepdims else "")
        run = single(text, [("n", "m", 3, dtype)], (*dims, "i64"))
        for n, m in ((1, 1), (4, 5), (3, 64)):
            x = random((n, m, 3), dtype)
            x[..., -1] = x[..., 0]
            if dtype in FLOATS and n > 1:
                x[1, m // 2, 1:] = np.nan
                x[2] = -np.inf
            assert_close(run("main", x)[0], reference(x.astype(float), axis=axis, keepdims=keepdims), "i64")
        if axis != -1:
            with pytest.raises(AssertionFailed, match="reduced dimensions must not be empty"):
                run("main", random((1, 0, 3), dtype))


# Running sums and products, exclusive or not, converted or flattened.
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
@pytest.mark.parametrize(
    ("dtype", "out"), [("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("i8", "i8"), ("i32", "i64"), ("i1", "i32")]
)
@pytest.mark.parametrize("exclusive", [False, True])
def test_scan(op, dtype, out, exclusive):
    reference = getattr(np, op)
    attributes = "" if dtype == out else f" {{dtype = {out}}}"
    for axis in (0, -1, None):
        dims = ("3*n",) if axis is None else ("n", 3)
        text = f"{op} %0" + ("" if axis is None else f" axis {axis}") + (" exclusive" if exclusive else "") + attributes
        run = single(text, [("n", 3, dtype)], (*dims, out))
        for n in (0, 1, 7):
            x = random((n, 3), dtype)
            wide = x.astype(DTYPES[out] if out.startswith("i") else np.float64)
            expected = reference(wide, axis=axis, dtype=wide.dtype)
            if exclusive:
                start = 0 if op == "cumsum" else 1
                expected = np.roll(expected, 1, axis=axis or 0)
                if axis == -1:
                    expected = np.roll(reference(wide, axis=1, dtype=wide.dtype), 1, axis=1)
                    expected[:, 0] = start
                elif expected.shape[0]:
                    expected[0] = start
            assert_close(run("main", x)[0], expected.astype(DTYPES[out]), out)


# Lines around the sizes of blocks and of chunks, with exact integers.
def test_scan_of_every_length():
    run = single("cumsum %0 axis 0 {dtype = i64}", [("n", 2, "i32")], ("n", 2, "i64"))
    for n in (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 5000):
        x = np.random.default_rng(n).integers(-9, 9, (n, 2)).astype(np.int32)
        np.testing.assert_array_equal(run("main", x)[0], np.cumsum(x, axis=0, dtype=np.int64))
