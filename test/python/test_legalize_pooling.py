# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling against loops over every window, in Python."""

import itertools
from math import ceil, prod

import numpy as np
import pytest
from compiled import check, execute, source_of
from elements import COMMON_DTYPES, is_float, tolerance_of
from targets import COMPILED as RUNS_ON  # noqa: F401

ONE_OF = 4  # combinations of all options of the ops


def attributes(**values: object) -> str:
    """The text of attributes: lists are arrays of i64."""

    def text(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return f'"{value}"'
        return f"array<i64: {', '.join(map(str, value))}>"

    return "{" + ", ".join(f"{name} = {text(value)}" for name, value in values.items()) + "}"


def per_axis(values: list[int], count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


def reference(
    x, kind, pool_size, strides=(1,), padding=(0,), dilation=(1,), ceil_mode=False, count_include_pad=False
) -> np.ndarray:
    """Pools data with axes N, C and spatial axes."""
    count = x.ndim - 2
    sizes, strides, dilation = (per_axis(v, count) for v in (pool_size, strides, dilation))
    before = per_axis(padding[:count], count)
    after = per_axis(padding[count:] or padding, count)
    counts = []
    for h, k, s, p, q, d in zip(x.shape[2:], sizes, strides, before, after, dilation, strict=True):
        span = d * (k - 1) + 1
        counts.append(
            min(-((span - h - p - q) // s) + 1, ceil((h + p) / s)) if ceil_mode else (h + p + q - span) // s + 1
        )
    least = -np.inf if is_float(x.dtype) else np.iinfo(x.dtype).min
    result = np.zeros((*x.shape[:2], *counts), x.dtype)
    for position in itertools.product(*map(range, counts)):
        elements, padded = [], 0
        for tap in itertools.product(*map(range, sizes)):
            at = [i * s + t * d - p for i, s, t, d, p in zip(position, strides, tap, dilation, before, strict=True)]
            if all(0 <= a < h for a, h in zip(at, x.shape[2:], strict=True)):
                elements.append(x[(slice(None), slice(None), *at)])
            elif all(a < h + q for a, h, q in zip(at, x.shape[2:], after, strict=True)):
                padded += 1
        if kind == "max":
            value = np.max(elements, axis=0) if elements else least
        else:
            divisor = len(elements) + (padded if count_include_pad else 0)
            value = np.sum(elements, axis=0, dtype=np.float64) / divisor if divisor else np.nan
        result[(slice(None), slice(None), *position)] = value
    return result


def values(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    generator = np.random.default_rng(prod(shape))
    if is_float(dtype):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(-100 if np.dtype(dtype).kind == "i" else 0, 250, shape).astype(dtype)


# The shape, and the parameters of the windows.
WINDOWS = [
    ((2, 3, 7), dict(pool_size=[2], strides=[2])),
    ((2, 3, 7), dict(pool_size=[3], padding=[2, 1], dilation=[2])),
    ((2, 3, 7), dict(pool_size=[2], strides=[3], padding=[1], ceil_mode=True)),
    ((1, 2, 0), dict(pool_size=[2], padding=[2])),
    ((0, 2, 5), dict(pool_size=[2], padding=[1])),
    ((2, 3, 5, 8), dict(pool_size=[3], strides=[2], padding=[1])),
    ((2, 3, 5, 8), dict(pool_size=[3, 2], strides=[2, 3], padding=[1, 0, 2, 1], ceil_mode=True)),
    ((1, 1, 1, 1), dict(pool_size=[1], padding=[1])),
    ((1, 2, 4, 3, 5), dict(pool_size=[2, 1, 3], strides=[1, 2, 1], padding=[1, 0, 1], dilation=[2, 1, 1])),
    ((1, 2, 4, 3, 5), dict(pool_size=[2], strides=[2], ceil_mode=True)),
]


@pytest.mark.parametrize("dtype", [*COMMON_DTYPES, np.int32, np.uint8])
@pytest.mark.parametrize("shape,windows", WINDOWS)
def test_max_pool(shape, windows, dtype):
    x = values(shape, dtype)
    op = f"relax.max_pool{len(shape) - 2}d %0 {attributes(**windows)}"
    check(op, [x], [reference(x, "max", **windows)])


def test_max_pool_keeps_nan():
    x = np.array([[[1, np.nan, 3, 4, -np.inf, -np.inf]]], np.float32)
    check("relax.max_pool1d %0 {pool_size = array<i64: 2>}", [x], [reference(x, "max", [2])])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("dtype", COMMON_DTYPES)
@pytest.mark.parametrize("shape,windows", WINDOWS)
def test_avg_pool(shape, windows, dtype, count_include_pad):
    x = values(shape, dtype)
    windows = {**windows, "count_include_pad": count_include_pad}
    op = f"relax.avg_pool{len(shape) - 2}d %0 {attributes(**windows)}"
    check(op, [x], [reference(x, "avg", **windows)], tolerance=tolerance_of(dtype))


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_layouts(kind):
    x = values((2, 3, 5, 8))
    expected = reference(x, kind, [3, 2], [2], [1])
    windows = dict(pool_size=[3, 2], strides=[2], padding=[1])
    nhwc = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    op = f"relax.{kind}_pool2d %0 {attributes(**windows, layout='NHWC')}"
    check(op, [nhwc], [expected.transpose(0, 2, 3, 1)], tolerance=1e-6)
    op = f"relax.{kind}_pool2d %0 {attributes(**windows, layout='NHWC', out_layout='CNWH')}"
    check(op, [nhwc], [expected.transpose(1, 0, 3, 2)], tolerance=1e-6)


# A window larger than the padded data is an error at run time.
def test_window_does_not_fit():
    x = np.zeros((1, 1, 4), np.float32)
    source = source_of("relax.max_pool1d %0 {pool_size = array<i64: 3>}", [x], [x], [["a", "b", "n"]])
    assert execute(source, x)[0].shape == (1, 1, 2)
    with pytest.raises(ValueError, match="does not fit along 'W'"):
        execute(source, x[:, :, :2].copy())


def adaptive(x: np.ndarray, sizes: list[int]) -> np.ndarray:
    result = np.zeros((*x.shape[:2], *sizes), x.dtype)
    for position in itertools.product(*map(range, sizes)):
        window = [slice(i * h // o, -(-(i + 1) * h // o)) for i, o, h in zip(position, sizes, x.shape[2:], strict=True)]
        axes = tuple(range(2, x.ndim))
        result[(slice(None), slice(None), *position)] = x[(slice(None), slice(None), *window)].mean(
            axis=axes, dtype=np.float64
        )
    return result


@pytest.mark.parametrize("dtype", COMMON_DTYPES)
@pytest.mark.parametrize(
    "shape,sizes",
    [
        ((2, 3, 7), [1]),
        ((2, 3, 7), [3]),
        ((2, 3, 2), [5]),
        ((2, 3, 7, 5), [2, 4]),
        ((2, 3, 7, 5), [1, 1]),
        ((1, 2, 4, 5, 3), [2, 2, 2]),
        ((0, 2, 4), [3]),
        ((1, 2, 0), [0]),
    ],
)
def test_adaptive_avg_pool(shape, sizes, dtype):
    x = values(shape, dtype)
    op = f"relax.adaptive_avg_pool{len(sizes)}d %0 to [{', '.join(map(str, sizes))}]"
    check(op, [x], [adaptive(x, sizes)], tolerance=tolerance_of(dtype))


def test_adaptive_avg_pool_without_a_size():
    x = values((2, 3, 4, 5))
    op = 'relax.adaptive_avg_pool2d %0 {out_layout = "NHWC"}'
    check(op, [x], [np.ascontiguousarray(x.transpose(0, 2, 3, 1))])


def test_adaptive_avg_pool_of_nothing():
    x = np.zeros((1, 1, 0), np.float32)
    source = source_of("relax.adaptive_avg_pool1d %0 to [2]", [x], [x], [["a", "b", "n"]])
    with pytest.raises(ValueError, match="data is empty along 'W'"):
        execute(source, x)
