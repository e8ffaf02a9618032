# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization against NumPy."""

import numpy as np
import pytest
from compiled import check
from elements import COMMON_DTYPES, NAMES
from targets import COMPILED as RUNS_ON  # noqa: F401

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]


def shaped(parameter: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """The parameter, reshaped to broadcast along the axis."""
    return parameter.reshape([-1 if dim == axis % rank else 1 for dim in range(rank)]) if parameter.ndim else parameter


def quantized(x, scale, zero, axis, dtype) -> np.ndarray:
    compute = np.float64 if np.float64 in (x.dtype, scale.dtype) else np.float32
    rounded = np.round(x.astype(compute) / shaped(scale, x.ndim, axis).astype(compute))
    whole = np.array([int(v) if np.isfinite(v) else v for v in rounded.ravel()], object).reshape(x.shape)
    limits = np.iinfo(dtype)
    moved = np.asarray(whole + shaped(zero, x.ndim, axis).astype(object), object)
    limited = [0 if v != v else min(max(v, limits.min), limits.max) for v in moved.ravel()]
    return np.array(limited, object).astype(dtype).reshape(x.shape)


def numbers(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    x = np.random.default_rng(sum(shape)).normal(0, 60, shape).astype(dtype)
    x.ravel()[:8] = np.array([np.nan, np.inf, -np.inf, 0.5, 1.5, -2.5, 6e4, -6e4])[: x.size]
    return x


@pytest.mark.parametrize("out", INTEGERS)
@pytest.mark.parametrize("dtype", [*COMMON_DTYPES, np.float64])
def test_quantize(dtype, out):
    x = numbers((5, 7), dtype)
    for zero in (None, np.array(3, np.int8), np.array(-100, np.int32)):
        scale = np.array(0.5, dtype)
        operands = [x, scale] + ([] if zero is None else [zero])
        expected = quantized(x, scale, np.array(0) if zero is None else zero, 0, out)
        text = ", ".join(f"%{index}" for index in range(len(operands)))
        check(f"relax.quantize {text} {{out_dtype = {NAMES[np.dtype(out)]}}}", operands, [expected])


@pytest.mark.parametrize("shape,axis", [((3, 4), 0), ((3, 4), -1), ((2, 3, 5), 1), ((0, 3), 1), ((1,), 0)])
def test_quantize_along_an_axis(shape, axis):
    x = numbers(shape, np.float32)
    size = shape[axis]
    scale = np.linspace(0.25, 2, size).astype(np.float32)
    zero = np.arange(size).astype(np.int8)
    for first, second in ((scale, zero), (scale, np.array(5, np.int8)), (np.array(0.5, np.float32), zero)):
        expected = quantized(x, first, second, axis, np.int8)
        check(f"relax.quantize %0, %1, %2 {{axis = {axis} : i64}}", [x, first, second], [expected])
        restored = (expected.astype(np.int32) - shaped(second, x.ndim, axis).astype(np.int32)).astype(
            np.float32
        ) * shaped(first, x.ndim, axis)
        check(f"relax.dequantize %0, %1, %2 {{axis = {axis} : i64}}", [expected, first, second], [restored])


def test_quantize_a_scalar():
    x, scale = np.array(3.3, np.float32), np.array(0.5, np.float32)
    check("relax.quantize %0, %1", [x, scale], [np.array(7, np.int8)])


@pytest.mark.parametrize("zero", [None, *INTEGERS, np.uint64])
@pytest.mark.parametrize("dtype", [*INTEGERS, np.uint64])
def test_dequantize(dtype, zero):
    limits = np.iinfo(dtype)
    q = np.array([[limits.min, limits.max, 0], [1, 100, 7]], dtype)
    operands = [q, np.array(0.375, np.float32)]
    point = 0
    if zero is not None:
        operands.append(np.array(np.iinfo(zero).min + 3, zero))
        point = int(operands[2])
    exact = np.array([[int(v) - point for v in row] for row in q], object)
    expected = exact.astype(np.float64).astype(np.float32) * np.float32(0.375)
    text = ", ".join(f"%{index}" for index in range(len(operands)))
    check(f"relax.dequantize {text}", operands, [expected], tolerance=1e-7)


@pytest.mark.parametrize("out", [*COMMON_DTYPES[1:], np.float64])
def test_dequantize_to(out):
    q, scale = np.arange(-6, 6, dtype=np.int8), np.array(0.25, np.float32)
    zero = np.array(2, np.int8)
    expected = ((q.astype(np.int32) - 2) * 0.25).astype(out)
    check(f"relax.dequantize %0, %1, %2 {{out_dtype = {NAMES[np.dtype(out)]}}}", [q, scale, zero], [expected])
