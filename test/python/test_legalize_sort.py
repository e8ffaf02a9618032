# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting and searching against NumPy."""

import numpy as np
import pytest
from compiled import check, execute, source_of
from elements import COMMON_DTYPES, is_float
from targets import COMPILED as RUNS_ON  # noqa: F401

ONE_OF = 4  # combinations of all options of the ops

DTYPES = [*COMMON_DTYPES, np.int32, np.int64, np.uint8]
SIZES = [0, 1, 2, 3, 7, 8, 31, 32, 33, 101, 255, 256, 257, 1000, 5000]


def values(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Numbers with many ties; floats with NaN, infinities and both zeros, unsigned integers beyond the signed range."""
    generator = np.random.default_rng(sum(shape))
    if is_float(dtype):
        choice = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 3.25, 100.0], dtype)
        return generator.choice(choice, shape)
    return generator.integers(200 if dtype is np.uint8 else -7, 256 if dtype is np.uint8 else 8, shape).astype(dtype)


def ranks(x: np.ndarray) -> np.ndarray:
    """Integers in the order of the elements, NaN as the largest."""
    _, inverse = np.unique(wide(x), return_inverse=True, equal_nan=True)
    return inverse.reshape(x.shape).astype(np.int64)


def wide(x: np.ndarray) -> np.ndarray:
    """Floats as f64, which NumPy orders with NaN last."""
    return x.astype(np.float64) if is_float(x.dtype) else x


def argsorted(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    order = ranks(x)
    return np.argsort(-order if descending else order, axis=axis, kind="stable")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape,axis", [((3, 7, 5), 0), ((3, 7, 5), 1), ((3, 7, 5), -1), ((2, 0), 1), ((0, 4), 1)])
def test_sort_along_any_axis(shape, axis, descending, dtype):
    x = values(shape, dtype)
    order = argsorted(x, axis, descending)
    word = " descending" if descending else ""
    check(f"relax.sort %0 axis {axis}{word}", [x], [np.take_along_axis(x, order, axis)])
    check(f"relax.argsort %0 axis {axis}{word}", [x], [order.astype(np.int32)])
    check(f"relax.argsort %0 axis {axis}{word} {{dtype = i64}}", [x], [order.astype(np.int64)])


@pytest.mark.parametrize("op,dtype", [("sort", np.float32), ("argsort", np.int32)])
def test_every_length(op, dtype):
    x = values((7,), np.float32)
    source = source_of(f"relax.{op} %0", [x], [x.astype(dtype)], [["n"]])
    for size in SIZES:
        x = values((size,), np.float32)
        order = argsorted(x, 0, False)
        np.testing.assert_array_equal(execute(source, x)[0], x[order] if op == "sort" else order)


def test_booleans():
    x = np.array([True, False, True, False, False])
    check("relax.sort %0", [x], [np.sort(x)])
    check("relax.argsort %0 descending", [x], [np.array([0, 2, 1, 3, 4], np.int32)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis,k", [(-1, 3), (0, 2), (1, 0), (1, 5)])
def test_topk(axis, k, largest, dtype):
    x = values((4, 5), dtype)
    order = np.take(argsorted(x, axis, largest), np.arange(k), axis)
    kept = np.take_along_axis(x, order, axis)
    flag = "true" if largest else "false"
    op = f"relax.topk %0 k {k} axis {axis} {{largest = {flag}"
    check(f"{op}}}", [x], [kept, order.astype(np.int32)])
    check(f'{op}, ret_type = "values"}}', [x], [kept])
    check(f'{op}, ret_type = "indices", dtype = i64}}', [x], [order.astype(np.int64)])


def test_topk_of_symbolic_count():
    x = np.arange(10, dtype=np.float32)
    source = source_of("relax.topk %0 k n", [x], [x, x.astype(np.int32)], [["2*n"]], parameters="", before="").replace(
        "@main(", "@main(%s: tensor<?xf32, #relax.shape<[n]>>, "
    )
    largest, indices = execute(source, np.zeros(5, np.float32), x)
    np.testing.assert_array_equal(largest, [9, 8, 7, 6, 5])
    np.testing.assert_array_equal(indices, [9, 8, 7, 6, 5])


# Too large a k is an error at run time.
def test_topk_of_too_many():
    x = np.zeros((3, 2), np.float32)
    source = source_of("relax.topk %0 k 3", [x], [x, x.astype(np.int32)], [["n", "m"]])
    with pytest.raises(Exception, match="k is more than the dimension"):
        execute(source, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 2, 7])
@pytest.mark.parametrize("right", [False, True])
def test_bucketize(count, right, dtype):
    x = values((5, 3), dtype)
    boundaries = np.sort(np.random.default_rng(count).integers(0, 250, count)).astype(dtype)
    expected = np.searchsorted(wide(boundaries), wide(x), side="right" if right else "left")
    names = [name for name, given in (("right", right),) if given]
    check(f"relax.bucketize %0, %1 {{{', '.join(names)}}}", [x, boundaries], [expected.astype(np.int64)])
    narrow = ", ".join([*names, "out_int32"])
    check(f"relax.bucketize %0, %1 {{{narrow}}}", [x, boundaries], [expected.astype(np.int32)])
