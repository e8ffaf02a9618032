# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors in memory that Python owns, and the memory of tensors, without NumPy: by the buffer protocol and DLPack."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence
from typing import Any

import tvm_ffi

from ..errors import RelaxError

_FORMATS = {"bool": "?", "float16": "e", "float32": "f", "float64": "d"}
_FORMATS |= {f"int{8 * size}": code for size, code in zip((1, 2, 4, 8), "bhiq")}
_FORMATS |= {f"uint{8 * size}": code for size, code in zip((1, 2, 4, 8), "BHIQ")}
"""The buffer protocol's names of DLPack's element types."""

_NAMES = {code: name for name, code in _FORMATS.items()} | {"l": "int64", "L": "uint64"}


class DataType(ctypes.Structure):
    """DLPack's `DLDataType`."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _ManagedTensor(ctypes.Structure):
    """DLPack's `DLManagedTensorVersioned`, with its `DLTensor` in place."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


_READ_ONLY, _CPU = 1, 1

_kept: dict[int, tuple[Any, ...]] = {}
"""What the tensors that are alive need, by the address of their description."""


def _forget(address: int) -> None:
    _kept.pop(address, None)


_delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_forget)


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class _PyBuffer(ctypes.Structure):
    """Python's `Py_buffer`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("object", ctypes.py_object),
        ("bytes", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("read_only", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


class _Pinned:
    """The memory of a buffer, which its owner neither frees nor moves as long as this object lives."""

    def __init__(self, buffer: memoryview) -> None:
        self._view = _PyBuffer()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(buffer), ctypes.byref(self._view), 0)
        self.address = self._view.data

    def __del__(self) -> None:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(self._view))


def tensor_of(buffer: memoryview, dtype: str, shape: Sequence[int]) -> tvm_ffi.Tensor:
    """A tensor in the memory of a contiguous buffer, which is not copied; read-only if the buffer is.

    Args:
      dtype: DLPack's name of the element type, such as "float32" or "bfloat16".
    """
    kind = tvm_ffi.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if buffer.nbytes != size or not buffer.c_contiguous:
        expected = f"{size} contiguous ones for {dtype} of shape {tuple(shape)}"
        raise RelaxError(f"a buffer of {buffer.nbytes} bytes; expected {expected}")
    pinned = _Pinned(buffer)
    sizes = (ctypes.c_int64 * (2 * len(shape)))(*shape, *_strides(shape))
    tensor = _ManagedTensor()
    tensor.major = 1
    tensor.deleter = ctypes.cast(_delete, ctypes.c_void_p)
    tensor.flags = _READ_ONLY if buffer.readonly else 0
    tensor.data, tensor.device_type, tensor.rank = pinned.address, _CPU, len(shape)
    tensor.dtype = DataType(kind.type_code, kind.bits, kind.lanes)
    tensor.shape = ctypes.addressof(sizes)
    tensor.strides = tensor.shape + 8 * len(shape)
    address = ctypes.addressof(tensor)
    _kept[address] = (tensor, sizes, pinned)
    try:
        return tvm_ffi.from_dlpack(_new_capsule(address, b"dltensor_versioned", None))
    except BaseException:
        _kept.pop(address, None)
        raise


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def from_buffer(buffer: Any) -> tvm_ffi.Tensor:
    """A tensor in the memory of an object with the buffer protocol, such as `array.array("f", …)`, without copying.

    `memoryview(data).cast("B").cast("f", shape=[2, 3])` gives memory a shape.

    Raises:
      RelaxError: it is not contiguous, or no compiled function takes its elements.
    """
    view = memoryview(buffer)
    name = _NAMES.get(view.format)
    if name is None or not view.c_contiguous:
        raise RelaxError(
            f"expected a contiguous buffer of numbers, got one of shape {view.shape} and format {view.format!r}"
        )
    return tensor_of(view, name, view.shape or ())


def bytes_of(tensor: tvm_ffi.Tensor) -> memoryview:
    """The memory of a contiguous tensor on the host, which lives as long as the view."""
    if tensor.device.type != "cpu":
        raise RelaxError(f"the tensor is on {tensor.device}; `Device.get` copies it to the host")
    if not tensor.is_contiguous():
        raise RelaxError(f"the tensor of shape {tuple(tensor.shape)} is not contiguous")
    size = math.prod(tensor.shape) * tensor.dtype.itemsize
    memory: Any = (ctypes.c_char * size).from_address(tensor.data_ptr()) if size else (ctypes.c_char * 0)()
    memory.owner = tensor
    return memoryview(memory).cast("B")


def to_memoryview(tensor: tvm_ffi.Tensor) -> memoryview:
    """The elements of a contiguous tensor on the host, without copying: `to_memoryview(y)[0, 1]`, `.tolist()`.

    The view has the shape of the tensor, except that it is flat if there are no elements.

    Raises:
      RelaxError: it is on a device, is not contiguous, or Python has no such elements (bf16, f8; f16 before 3.12).
    """
    name = str(tensor.dtype)
    if name not in _FORMATS or (name == "float16" and sys.version_info < (3, 12)):
        raise RelaxError(
            f"Python has no elements of type {name}; use NumPy with ml_dtypes, or convert them in the model"
        )
    data: Any = bytes_of(tensor)
    shape, form = list(tensor.shape), _FORMATS[name]
    view: memoryview = data.cast(form) if 0 in shape else data.cast(form, shape)  # casts take no empty shape
    return view
