# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of parameters: NumPy arrays, PyTorch tensors, and other arrays with a shape and an element type."""

from __future__ import annotations

from typing import Any

from .. import dtypes


class Mismatch(ValueError):
    """A value that does not fit a parameter."""


def check_value(value: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """The value, without PyTorch's record of gradients.

    Raises:
      Mismatch: it is not an array, or has another shape or element type.
    """
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise Mismatch(f"is a {type(value).__name__}; expected an array")
    try:
        found = dtypes.normalize(value.dtype)
    except ValueError:
        found = str(value.dtype)
    if (tuple(value.shape), found) != (shape, dtype):
        raise Mismatch(f"has {found}{list(value.shape)}; expected {dtype}{list(shape)}")
    return value.detach() if hasattr(value, "detach") else value


def same_values(first: Any, second: Any) -> bool:
    """Whether two arrays of one shape have equal elements; NaN equals NaN."""
    return first is second or bool(((first == second) | ((first != first) & (second != second))).all())
