# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types in tests: their names, random numbers, and the required accuracy on all targets."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}

FLOATS = ("f32", "f16", "bf16", "f64")
COMMON_FLOATS = ("f32", "f16", "bf16")
COMMON_DTYPES = tuple(DTYPES[name] for name in COMMON_FLOATS)

TOLERANCES = {"f64": 1e-12, "f32": 2e-5, "f16": 3e-3, "bf16": 2e-2}
"""Relative and absolute tolerances of an op's result, compared with one computed in f64."""


def is_float(dtype: Any) -> bool:
    """Whether a NumPy dtype is a float; the dtypes of ml_dtypes have a separate kind."""
    return NAMES[np.dtype(dtype)] in FLOATS


def tolerance_of(dtype: Any) -> float:
    """The tolerance for results of a NumPy dtype; integers must be equal."""
    return TOLERANCES.get(NAMES[np.dtype(dtype)], 0.0)


def random(shape: tuple, dtype: str = "f32", seed: int = 0) -> np.ndarray:
    """Random numbers of a type, small enough to sum them."""
    generator = np.random.default_rng(seed)
    if dtype == "i1":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.startswith("ui"):
        return generator.integers(0, 200, shape).astype(DTYPES[dtype])
    if dtype.startswith("i"):
        return generator.integers(-100, 100, shape).astype(DTYPES[dtype])
    return generator.standard_normal(shape).astype(DTYPES[dtype])


def compare(actual: np.ndarray, expected: np.ndarray, tolerance: float = 0.0) -> None:
    """Asserts equal shapes and types, and equal values up to a relative and absolute tolerance."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    if is_float(actual.dtype):  # NumPy does not recognize NaN of ml_dtypes
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(actual, expected, tolerance, tolerance)


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    """Asserts equality for integers, and equality up to rounding for floats, with `expected` computed in f64."""
    expected = np.asarray(expected)
    assert actual.dtype == DTYPES[dtype], (actual.dtype, dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if dtype not in TOLERANCES:
        np.testing.assert_array_equal(actual, expected)
        return
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), tolerance, tolerance)
