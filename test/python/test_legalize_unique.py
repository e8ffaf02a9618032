# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose sizes depend on data, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from compiled import check, execute, source_of
from elements import COMMON_DTYPES, is_float
from targets import COMPILED as RUNS_ON  # noqa: F401

ONE_OF = 4  # combinations of all options of the ops

DTYPES = [*COMMON_DTYPES, np.int32, np.int64, np.uint8]


def values(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Random values with few distinct ones."""
    generator = np.random.default_rng(sum(shape))
    if is_float(dtype):
        return generator.choice(np.array([np.nan, np.inf, -np.inf, 0.0, 1.5, -2.5], dtype), shape)
    return generator.choice(np.array([0, 1, 7, 200]), shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (0, 3), (1,)])
def test_nonzero(shape, dtype):
    x = values(shape, dtype)
    check("relax.nonzero %0", [x], [np.array(np.nonzero(x))])


# Sizes around blocks and chunks, some of which contain no nonzero element.
def test_nonzero_of_every_length():
    x = np.zeros(7, np.float32)
    source = source_of("relax.nonzero %0", [x], [np.array(np.nonzero(x))], [["n"]])
    for size in (0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 5000):
        x = (np.random.default_rng(size).random(size) < 0.1).astype(np.float32)
        x[size // 3 : size // 2] = 0
        (found,) = execute(source, x)
        np.testing.assert_array_equal(found, np.array(np.nonzero(x)))


def test_nonzero_of_nothing_but_zeros():
    x = np.zeros((3, 4), np.float32)
    check("relax.nonzero %0", [x], [np.zeros((2, 0), np.int64)])


FLAGS = ["", "return_index", "return_inverse", "return_counts", "return_index return_inverse return_counts"]


def unique(x: np.ndarray, axis: int | None, is_sorted: bool, flags: str) -> list[np.ndarray]:
    distinct, first, inverse, counts = np.unique(
        x.astype(np.float64) if is_float(x.dtype) else x,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
    )
    inverse = inverse.ravel()
    if not is_sorted:
        order = np.argsort(first, kind="stable")
        distinct = distinct[order] if axis is None else np.take(distinct, order, axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    results = [distinct.astype(x.dtype)]
    for name, result in (("index", first), ("inverse", inverse), ("counts", counts)):
        if name in flags:
            results.append(result.astype(np.int64))
    return results


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("shape", [(9,), (3, 5), (0,), ()])
def test_unique(shape, is_sorted, flags, dtype):
    x = np.asarray(values(shape, dtype))
    if shape == ():
        x = x.reshape(1)
    sorting = "" if is_sorted else " {sorted = false}"
    check(f"relax.unique %0 {flags}{sorting}", [x], unique(x, None, is_sorted, flags))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.uint8])
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("shape,axis", [((9, 2), 0), ((2, 9), 1), ((2, 12, 2), -2), ((3, 1), -1), ((0, 2), 0)])
def test_unique_slices(shape, axis, is_sorted, flags, dtype):
    x = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    sorting = "" if is_sorted else " {sorted = false}"
    check(f"relax.unique %0 axis {axis} {flags}{sorting}", [x], unique(x, axis, is_sorted, flags))


# The size is a symbol to later ops.
def test_what_follows():
    x = np.array([3, 1, 3, 2, 1], np.float32)
    distinct = "%u = relax.unique %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>"
    source = source_of("relax.exp %u", [x], [x], [["n"]], before=distinct)
    source = source.replace("relax.exp %u : (tensor<?xf32, #relax.shape<[n]>>)", "relax.exp %u : (tensor<?xf32>)")
    np.testing.assert_allclose(execute(source, x)[0], np.exp([1, 2, 3]), rtol=1e-6)
