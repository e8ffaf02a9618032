# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types in tests: their names, numbers of them, and how exact results must be, whatever runs the program."""

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
"""Relative and absolute, of a result of an op against one computed in f64."""


def is_float(dtype: Any) -> bool:
    """Of a NumPy dtype; those of ml_dtypes have a kind of their own."""
    return NAMES[np.dtype(dtype)] in FLOATS


def tolerance_of(dtype: Any) -> float:
    """How far results of a NumPy dtype may be off; integers must be equal."""
    return TOLERANCES.get(NAMES[np.dtype(dtype)], 0.0)


def random(shape: tuple, dtype: str = "f32", seed: int = 0) -> np.ndarray:
    """Numbers of a type, small enough for sums of them."""
    generator = np.random.default_rng(seed)
    if dtype == "i1":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.startswith("ui"):
        return generator.integers(0, 200, shape).astype(DTYPES[dtype])
    if dtype.startswith("i"):
        return generator.integers(-100, 100, shape).astype(DTYPES[dtype])
    return generator.standard_normal(shape).astype(DTYPES[dtype])


def compare(actual: np.ndarray, expected: np.ndarray, tolerance: float = 0.0) -> None:
    """Equal in shape and type, and in value up to a relative and absolute tolerance."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    if tolerance:
        np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), tolerance, tolerance)
    elif actual.dtype.kind == "V":
        # NumPy finds that what is no number differs from itself in types that are not its own.
        np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
    else:
        np.testing.assert_array_equal(actual, expected)


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    """Equal for integers; for floats up to rounding, where `expected` was computed in f64."""
    expected = np.asarray(expected)
    assert actual.dtype == DTYPES[dtype], (actual.dtype, dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if dtype not in TOLERANCES:
        np.testing.assert_array_equal(actual, expected)
        return
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), tolerance, tolerance)
