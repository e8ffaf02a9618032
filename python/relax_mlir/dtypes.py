# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: a short name for each, and its names in NumPy, PyTorch and MLIR.

The short names are MLIR's (`f32`, `bf16`, `i64`), except for `bool` and the unsigned `u8`…`u64`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, Union

from .optional import np

if TYPE_CHECKING:
    from mlir import ir

    from . import mlir_types


class TorchDType(Protocol):
    """A `torch.dtype`, of which this package knows nothing else."""

    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...


DTypeLike = Union[str, type[Any], "np.dtype[Any]", "mlir_types.Type", TorchDType]
"""A short name, a NumPy name, dtype or scalar type, an ml_dtypes type, a torch.dtype, an MLIR type."""

# short name: (MLIR's name, NumPy's name, bits)
_TABLE = {
    "bool": ("i1", "bool", 1),
    "i4": ("i4", "int4", 4),
    "i8": ("i8", "int8", 8),
    "i16": ("i16", "int16", 16),
    "i32": ("i32", "int32", 32),
    "i64": ("i64", "int64", 64),
    "u4": ("ui4", "uint4", 4),
    "u8": ("ui8", "uint8", 8),
    "u16": ("ui16", "uint16", 16),
    "u32": ("ui32", "uint32", 32),
    "u64": ("ui64", "uint64", 64),
    "f16": ("f16", "float16", 16),
    "bf16": ("bf16", "bfloat16", 16),
    "f32": ("f32", "float32", 32),
    "f64": ("f64", "float64", 64),
    "f8e4m3fn": ("f8E4M3FN", "float8_e4m3fn", 8),
    "f8e5m2": ("f8E5M2", "float8_e5m2", 8),
}
_BY_NAME = {
    alias: name for name, (mlir_name, numpy_name, _) in _TABLE.items() for alias in (name, mlir_name, numpy_name)
}
_BY_PYTHON_TYPE = {bool: "bool", int: "i64", float: "f32"}


def normalize(dtype: DTypeLike) -> str:
    """The short name of an element type.

    Python's own `bool`, `int` and `float` are `bool`, `i64` and `f32`. Raises ValueError for an unknown
    name.
    """
    if isinstance(dtype, str):
        name = dtype
    elif (mlir := sys.modules.get("mlir.ir")) and isinstance(dtype, mlir.Type):
        return from_mlir(dtype)
    elif isinstance(dtype, type) and dtype in _BY_PYTHON_TYPE:
        return _BY_PYTHON_TYPE[dtype]
    elif type(dtype).__module__.partition(".")[0] == "torch":
        name = str(dtype).rpartition(".")[2]
    elif dtype is None:  # NumPy takes None for float64
        name = "None"
    else:
        given: Any = dtype  # NumPy says what it takes
        try:
            name = np.dtype(given).name
        except TypeError:
            name = str(dtype)
    found = _BY_NAME.get(name)
    if found is None:
        raise ValueError(f"unknown dtype '{name}'; the known ones are {', '.join(_TABLE)}")
    return found


def to_mlir(dtype: DTypeLike, context: ir.Context) -> ir.Type:
    """The MLIR type of an element type."""
    from mlir import ir  # loading compiled code needs no MLIR

    return ir.Type.parse(_TABLE[normalize(dtype)][0], context)


def from_mlir(element: ir.Type) -> str:
    """The short name of an MLIR type, or its text if it has no short name (`i3`, `index`)."""
    text = str(element)
    return _BY_NAME.get(text, text)


def is_float(dtype: str) -> bool:
    return dtype.startswith(("f", "bf"))


def is_float_array(array: np.ndarray) -> bool:
    """Whether the elements are floats of any kind; in NumPy, the floats of ml_dtypes (bf16, f8) have the kind "V"."""
    name = _BY_NAME.get(array.dtype.name)
    return array.dtype.kind == "f" or (name is not None and is_float(name))


def is_int(dtype: str) -> bool:
    return dtype.startswith(("i", "u")) and dtype != "index"


def integer_range(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = int(dtype[1:])
    return (0, (1 << bits) - 1) if dtype[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def limits(dtype: str) -> tuple[Any, Any]:
    """The least and the greatest value of a type; for floats, the infinities if the type has them."""
    if dtype == "bool":
        return False, True
    if not is_float(dtype):
        return integer_range(dtype)
    if dtype != "f8e4m3fn":
        return -float("inf"), float("inf")
    return -448.0, 448.0


def to_numpy(dtype: DTypeLike) -> np.dtype:
    """The NumPy dtype. Types that NumPy lacks (bf16, f8) need the package ml_dtypes."""
    name = _TABLE[normalize(dtype)][1]
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise ValueError(f"NumPy has no {name}; `pip install ml_dtypes` adds it, or use f32") from None
    return np.dtype(getattr(ml_dtypes, name))
