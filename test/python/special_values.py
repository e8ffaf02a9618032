# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special values of every element type, and their expected results: the grid of test_special_values.py."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import targets
from elements import DTYPES

FLOAT8 = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
ALL_DTYPES = {**DTYPES, **FLOAT8}


def is_float(dtype: str) -> bool:
    return dtype.startswith(("f", "bf"))


def finfo(dtype: str) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(ALL_DTYPES[dtype])


def flushes_subnormals(dtype: str) -> bool:
    """Whether the current target may flush subnormal numbers to zero: Vulkan devices, and the x86-64 instruction that
    converts to bf16."""
    return targets.current.startswith("vulkan") or dtype == "bf16"


def grid(dtype: str) -> np.ndarray:
    """Each special value of a type, and some plain ones."""
    kind = np.dtype(ALL_DTYPES[dtype])
    if dtype == "i1":
        return np.array([False, True])
    if not is_float(dtype):
        info, bits = np.iinfo(kind), 8 * kind.itemsize
        some = [0, 1, 2, 3, 5, 7, 10, 100, bits - 1, bits, bits + 1, info.max - 1, info.max, info.max // 2, info.min]
        some += [-1, -2, -3, -7, -10, -100, -bits, info.min + 1, info.min // 2]
        some += [2**24 + 1, 2**53 + 1, 2**31, 2**63 - 512]
        # Above the midpoint of two bf16 numbers by less than the precision of f64.
        some += [2**60 + 2**52 + 1, -(2**60) - 2**52 - 1]
        return np.array(sorted({value for value in some if info.min <= value <= info.max}), kind)
    info = finfo(dtype)
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    some = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 10.0, 100.0, 1.0 + float(info.eps), most]
    some += [tiny] if flushes_subnormals(dtype) else [tiny, least, 3 * least]
    # The limits of integers.
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        some += [2.0**bits, 2.0**bits - 1, np.nextafter(2.0**bits, 0), 2.0**bits * (1 - float(info.eps) / 2)]
    with np.errstate(all="ignore"):
        values = np.unique(np.array([value for value in some if abs(value) <= most]).astype(kind).astype(np.float64))
        values = values[np.isfinite(values)]
        values = np.concatenate([values, -values, [np.inf, -np.inf, np.nan]])
        return np.concatenate([values, [-0.0]]).astype(kind)


def few(dtype: str) -> np.ndarray:
    """The values of the grid that are special in every op."""
    if dtype == "i1":
        return grid(dtype)
    kind = np.dtype(ALL_DTYPES[dtype])
    if not is_float(dtype):
        info = np.iinfo(kind)
        return np.unique(np.array([info.min, info.max, 0, 1, 2, 8 * kind.itemsize, max(info.min, -1)], kind))
    with np.errstate(all="ignore"):
        most = float(finfo(dtype).max)
        return np.array([0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan, most]).astype(kind)


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of values."""
    x, y = np.meshgrid(values, values, indexing="ij")
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel())


def wide(x: np.ndarray) -> np.ndarray:
    """Floats as f64, which represents NaN and signs of all of them."""
    return x if x.dtype.kind in "iub" and x.dtype.name in np.sctypeDict else x.astype(np.float64)


def _to_odd(x: np.ndarray, kind: type) -> np.ndarray:
    """Rounds to odd: towards zero, with the last bit set if inexact, so that a second rounding is harmless."""
    bits = np.uint32 if kind is np.float32 else np.uint64
    with np.errstate(all="ignore"):
        near = x.astype(kind)
        is_inexact = (near != x) & np.isfinite(x)
        cut = np.where(np.abs(near) > np.abs(x), np.nextafter(near, kind(0)), near)
    return np.where(is_inexact, (cut.view(bits) | bits(1)).view(kind), near)


def converted(x: np.ndarray, to: str) -> np.ndarray:
    """`x` as `relax.astype` converts it.

    Floats are rounded once, to the nearest. They are clamped to the range of an integer type, and NaN becomes 0, which
    NumPy leaves to the processor. Integers wrap around.
    """
    kind = np.dtype(ALL_DTYPES[to])
    is_integer = x.dtype.kind in "iub" and x.dtype.name in np.sctypeDict
    if to == "i1":
        return wide(x) != 0
    if not is_float(to):
        if is_integer:
            return x.astype(kind)
        info = np.iinfo(kind)
        whole = [0 if np.isnan(v) else np.clip(v, -(2.0**70), 2.0**70) for v in wide(x).tolist()]
        return np.array([min(max(int(v), info.min), info.max) for v in whole], kind)
    if is_integer and to in ("f32", "f64"):
        return x.astype(kind)
    exact = x.astype(np.longdouble) if is_integer else wide(x).astype(np.longdouble)
    with np.errstate(all="ignore"):
        double = exact.astype(np.float64) if to == "f64" else _to_odd(exact, np.float64)
        if to == "f64":
            return double
        return double.astype(kind) if to == "f32" else _to_odd(double, np.float32).astype(kind)


def attribute(value: np.generic, dtype: str) -> str:
    """A number in MLIR syntax: floats by their bits."""
    if dtype == "i1":
        return "true" if value else "false"
    if not is_float(dtype):
        return str(int(value))
    bits = np.asarray(value).view(f"u{np.dtype(ALL_DTYPES[dtype]).itemsize}")
    return f"0x{int(bits):0{2 * bits.itemsize}X}"


def same(
    actual: np.ndarray,
    expected: np.ndarray,
    dtype: str,
    tolerance: float,
    zero_signs: bool = True,
    margin: float = 0.0,
) -> np.ndarray:
    """A mask of matching elements: NaN for NaN, infinities and zeros with their signs, others within a tolerance.

    Args:
      tolerance: relative, of finite numbers.
      margin: absolute.
    """
    if not is_float(dtype):
        return actual == expected
    a, e = wide(actual), wide(expected)
    info = finfo(dtype)
    if flushes_subnormals(dtype):
        margin += float(info.tiny)
    elif tolerance:
        margin += 4 * float(info.smallest_subnormal)
    with np.errstate(all="ignore"):
        near = np.abs(a - e) <= tolerance * np.abs(e) + margin
    result = np.where(np.isnan(e), np.isnan(a), np.where(np.isinf(e), a == e, near))
    if zero_signs:
        result &= (e != 0) | (np.signbit(a) == np.signbit(e))
    return result


def report(what: str, same_places: np.ndarray, actual: np.ndarray, expected: np.ndarray, *operands: np.ndarray) -> str:
    """The first few differences, one per line; empty if there are none."""
    wrong = np.flatnonzero(~np.ravel(same_places))
    lines = [
        f"{what}({', '.join(str(np.ravel(x)[i]) for x in operands)}) is {np.ravel(actual)[i]}, "
        f"expected {np.ravel(expected)[i]}"
        for i in wrong[:6]
    ]
    return "\n".join([*lines, f"... {len(wrong)} in all"] if len(wrong) > 6 else lines)
