# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's element types by our names, and what type an operation on several of them is computed in."""

from __future__ import annotations

from typing import Any

import torch

from ...dtypes import normalize
from ...errors import FrontendError

_BY_NAME = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
}

PART_OF = {"c64": "f32", "c128": "f64"}
"""The element type of both parts of a complex number, by the front end's names of complex types."""

COMPLEX_OF = {part: name for name, part in PART_OF.items()}
"""The complex type with such parts."""

_COMPLEX = {"c64": torch.complex64, "c128": torch.complex128}


def from_torch(dtype: torch.dtype) -> str:
    """Our name of an element type; "c64" and "c128" are complex, which the dialect has as pairs alone.

    Raises:
      FrontendError: there is none.
    """
    for name, known in _COMPLEX.items():
        if dtype == known:
            return name
    try:
        name = normalize(dtype)
    except ValueError:
        raise FrontendError(
            f"elements of type {dtype} are not supported; there are {', '.join(map(str, _BY_NAME.values()))}"
        ) from None
    if name not in _BY_NAME:
        raise FrontendError(f"elements of type {dtype} are not supported")
    return name


def to_torch(dtype: str) -> torch.dtype:
    """PyTorch's type of that name."""
    return _BY_NAME.get(dtype) or _COMPLEX[dtype]


def promote(lhs: Any, rhs: Any) -> str:
    """The type in which PyTorch combines these, tensors of a trace and Python's numbers."""
    return from_torch(torch.result_type(_sample(lhs), _sample(rhs)))


def _sample(value: Any) -> Any:
    """A small value of its category: numbers count less than tensors without dimensions, these less than others."""
    if isinstance(value, torch.Tensor):
        return torch.empty((1,) * min(value.ndim, 1), dtype=value.dtype)
    if isinstance(value, torch.SymInt):
        return 1
    if isinstance(value, torch.SymFloat):
        return 1.0
    return True if isinstance(value, torch.SymBool) else value
