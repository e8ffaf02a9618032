# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types of ONNX, under our short names.

Some of them no kernel has: integers of 2 and 4 bits, and small floats other than f8e4m3fn and f8e5m2. A tensor of such
a type is carried by a wider type that has all of its numbers, and every op that makes one rounds to those numbers.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ...errors import FrontendError

STRING = "str"
"""The type of tensors of text, which exist on the host only."""

_NAMES = {
    1: "f32",
    2: "u8",
    3: "i8",
    4: "u16",
    5: "i16",
    6: "i32",
    7: "i64",
    8: STRING,
    9: "bool",
    10: "f16",
    11: "f64",
    12: "u32",
    13: "u64",
    16: "bf16",
    17: "f8e4m3fn",
    18: "f8e4m3fnuz",
    19: "f8e5m2",
    20: "f8e5m2fnuz",
    21: "u4",
    22: "i4",
    23: "f4e2m1",
    24: "f8e8m0",
    25: "u2",
    26: "i2",
}
"""`TensorProto.DataType` to our name."""

CARRIERS = {
    "i2": "i8",
    "i4": "i8",
    "u2": "u8",
    "u4": "u8",
    "f4e2m1": "f32",
    "f8e4m3fnuz": "f32",
    "f8e5m2fnuz": "f32",
    "f8e8m0": "f32",
}
"""Types that no kernel has, and what carries their numbers."""

_NUMPY = {
    "bool": np.dtype(bool),
    "str": np.dtype(object),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f4e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "i2": np.dtype(ml_dtypes.int2),
    "i4": np.dtype(ml_dtypes.int4),
    "u2": np.dtype(ml_dtypes.uint2),
    "u4": np.dtype(ml_dtypes.uint4),
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}

_BY_NUMPY = {dtype: name for name, dtype in _NUMPY.items()}

_ONNX_TEXT = {
    "f16": "float16",
    "f32": "float",
    "f64": "double",
    "bf16": "bfloat16",
    "str": "string",
    "bool": "bool",
    "f8e4m3fn": "float8e4m3fn",
    "f8e4m3fnuz": "float8e4m3fnuz",
    "f8e5m2": "float8e5m2",
    "f8e5m2fnuz": "float8e5m2fnuz",
    "f8e8m0": "float8e8m0",
    "f4e2m1": "float4e2m1",
}


def from_code(code: int, where: str) -> str:
    """The name of a `TensorProto.DataType`.

    Raises:
      FrontendError: there is no such type, or no support for it (complex numbers).
    """
    name = _NAMES.get(code)
    if name is None:
        kind = {14: "complex64", 15: "complex128", 0: "undefined"}.get(code, f"number {code}")
        raise FrontendError(f"{where}: elements of the type {kind} are not supported; the known ones are {_known()}")
    return name


def _known() -> str:
    return ", ".join(_NAMES.values())


def to_code(name: str) -> int:
    """The `TensorProto.DataType` of a type."""
    return next(code for code, known in _NAMES.items() if known == name)


def carrier(name: str) -> str:
    """The type in which a kernel has these elements."""
    return CARRIERS.get(name, name)


def to_numpy(name: str) -> np.dtype:
    """The type of NumPy or ml_dtypes; objects for text."""
    return _NUMPY[name]


def from_numpy(dtype: np.dtype) -> str | None:
    """Our name of a type of NumPy or ml_dtypes; None if there is none."""
    if dtype.kind in "OSUT":
        return STRING
    return _BY_NUMPY.get(dtype)


def onnx_text(name: str) -> str:
    """The type as onnxruntime writes it: `float`, `int64`."""
    if name in _ONNX_TEXT:
        return _ONNX_TEXT[name]
    return ("uint" if name[0] == "u" else "int") + name[1:]


def is_float(name: str) -> bool:
    """Whether a type is a float of any width."""
    return name[0] in "fb" and name != "bool"
