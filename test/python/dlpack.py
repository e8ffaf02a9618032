# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack tensors with arbitrary sizes, strides and flags, as another library may create them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Foreign:
    """An f32 tensor over the memory of an array, which must outlive it.

    Args:
      strides: in elements; None for a tensor whose producer omits them.
    """

    def __init__(
        self,
        memory: np.ndarray | None,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        read_only: bool = False,
    ) -> None:
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        steps = (ctypes.c_int64 * len(shape))(*strides) if strides is not None else None
        data = None if memory is None else memory.ctypes.data
        self._kept = (memory, sizes, steps)
        self._managed = _Managed((1, 0), None, None, int(read_only))
        self._managed.tensor = _Tensor(
            data, (1, 0), len(shape), 2, 32, 1, ctypes.addressof(sizes), steps and ctypes.addressof(steps), 0
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **_: Any) -> Any:
        if max_version is None:
            raise BufferError("only versions are given")
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor_versioned", None)
