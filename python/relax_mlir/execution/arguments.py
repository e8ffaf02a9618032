# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results of compiled functions: arrays and tensors of all kinds, which are not copied."""

from __future__ import annotations

import array
import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import tvm_ffi

from ..dtypes import to_numpy as to_numpy_dtype
from ..errors import DeviceError, RelaxError
from ..optional import ARRAY, SCALAR, np
from .buffers import DataType, from_buffer

_Tensor = tvm_ffi.Tensor

# Errors of calls, by the names that compiled code gives them.
tvm_ffi.register_error("RecursionError", RecursionError)
tvm_ffi.register_error("DeviceError", DeviceError)
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)  # in a callback

_KINDS = {"cpu": 1, "cuda": 2, "vulkan": 7}
"""DLPack's device types."""

_BUFFERS = (memoryview, array.array)
"""Types of the standard library whose memory is taken as a tensor."""


def as_argument(value: Any) -> Any:
    """The argument that TVM FFI takes for a value; arrays, tensors and `memoryview`s of numbers are not copied.

    Raises:
      RelaxError: no compiled function takes this element type, or the memory does not hold the elements
        themselves: the value is a PyTorch tensor that is a lazy conjugate or negative, or needs a gradient.
    """
    if type(value) is _Tensor:
        return value
    if isinstance(value, ARRAY):
        if value.dtype in _OF_DLPACK:
            # TVM FFI takes these as they are.
            return value if value.flags.writeable else tvm_ffi.from_dlpack(value.__dlpack__(max_version=(1, 0)))
        return _from_other_dtype(value)
    if isinstance(value, SCALAR):
        return value.item() if value.dtype in _OF_DLPACK else as_argument(np.asarray(value))
    if type(value) in (tuple, list):
        return [as_argument(member) for member in value]
    if isinstance(value, (tvm_ffi.core.CObject, int, float, str)):
        return value
    if hasattr(value, "requires_grad"):
        _check_torch(value)
    elif hasattr(value, "__dlpack__"):
        return value if hasattr(value, "__dlpack_c_exchange_api__") else _import(value)
    elif isinstance(value, _BUFFERS):
        return from_buffer(value)
    elif isinstance(value, ReturnedFunction):
        return value.function
    elif callable(value):
        return _Callback(value)
    return value


def _import(value: Any) -> tvm_ffi.Tensor:
    """A tensor of another library, marked read-only if it is; old DLPack producers do not report that."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer that predates DLPack versions
        return tvm_ffi.from_dlpack(value)
    return tvm_ffi.from_dlpack(capsule)


class _Callback:
    """A function of the caller, which gets arrays like those that a call returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return as_argument(self._function(*map(_as_array, args)))


class ReturnedFunction:
    """A function that compiled code returned; it takes and returns the same kinds of values as a module's functions."""

    def __init__(self, function: tvm_ffi.Function) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return _results_for(args, self.function(*map(as_argument, args)))


_OF_DLPACK = frozenset(map(np.dtype, "?bhilqBHILQefd")) if np else frozenset()
"""The types that NumPy exports by DLPack, in this machine's byte order."""

_CODES = {"bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8)}
"""Types of ml_dtypes: DLPack's code and bits. NumPy neither exports nor imports them."""


_MLIR_NAMES = ("bf16", "f8E4M3FN", "f8E5M2")


_DATA_TYPE = 24 + 20
"""The offset of a `DataType` in a TVM FFI tensor: after the object's header, and the tensor's data, device and rank."""


def _from_other_dtype(array: np.ndarray) -> Any:
    """A tensor of an array whose type DLPack knows and NumPy does not: exports integers, then sets the real type."""
    codes = _CODES.get(array.dtype.name)
    if codes is None or not array.dtype.isnative:
        swapped = "" if array.dtype.isnative else f"; its bytes are swapped: pass x.astype('{array.dtype.name}')"
        raise RelaxError(f"an array of dtype {array.dtype.str!r} ({array.dtype.name}) cannot be an argument{swapped}")
    tensor = as_argument(array.view(f"u{array.itemsize}"))
    if isinstance(tensor, np.ndarray):
        tensor = tvm_ffi.from_dlpack(tensor)
    # The object is new, and nobody else refers to it.
    dtype = DataType.from_address(tensor.__chandle__() + _DATA_TYPE)
    dtype.code, dtype.bits = codes
    return tensor


def _check_torch(tensor: Any) -> None:
    """Rejects tensors that TVM FFI would pass on with other elements."""
    if tensor.requires_grad:
        raise RelaxError("the tensor needs a gradient, which compiled code does not compute; pass x.detach()")
    if tensor.is_conj() or tensor.is_neg():
        raise RelaxError(
            "the tensor is a view that conjugates or negates, and its memory holds other numbers; "
            "pass x.resolve_conj() or x.resolve_neg()"
        )
    if tensor.device.type == "meta":
        raise RelaxError("the tensor is on the device 'meta', and has no memory")
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized:
        raise RelaxError(f"the tensor is not a plain one in memory (layout {tensor.layout}); pass x.to_dense()")


def to_numpy(value: Any) -> Any:
    """Converts a result to NumPy arrays without copying: a tensor of any library, or a sequence of results.

    bf16 and f8 elements have the types of ml_dtypes. Other values are returned unchanged, and so is everything where
    NumPy is missing.
    """
    if not np:
        return value
    if isinstance(value, tvm_ffi.Tensor):
        name = str(value.dtype)
        if value.device.type != "cpu":
            raise RelaxError(f"the tensor is on {value.device}; `Device.get` copies it to the host")
        return _view(value, name) if name in _CODES else np.from_dlpack(value)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (tuple, list, tvm_ffi.Array)):
        return tuple(map(to_numpy, value))
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") else value


class _Memory:
    """The memory of a tensor, kept alive by the array that views it."""

    def __init__(self, tensor: tvm_ffi.Tensor, itemsize: int) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|u{itemsize}" if itemsize == 1 else f"<u{itemsize}",
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * itemsize for stride in tensor.strides),
            "data": (tensor.data_ptr(), False),
        }


def _view(tensor: tvm_ffi.Tensor, name: str) -> np.ndarray:
    dtype = to_numpy_dtype(name)
    return np.asarray(_Memory(tensor, dtype.itemsize)).view(dtype)


def _as_array(value: Any) -> Any:
    """Replaces TVM FFI tensors on the host in a value of compiled code by NumPy arrays."""
    if type(value) is _Tensor:
        return to_numpy(value) if np and value.__dlpack_device__()[0] == _KINDS["cpu"] else value
    if isinstance(value, tvm_ffi.Array):
        return tuple(map(_as_array, value))
    return ReturnedFunction(value) if isinstance(value, tvm_ffi.Function) else value


def _has_tensor(value: Any) -> bool:
    """Whether an argument is or contains a TVM FFI tensor."""
    return type(value) is _Tensor or (type(value) in (tuple, list) and any(map(_has_tensor, value)))


def _results_for(args: tuple[Any, ...], result: Any) -> Any:
    """The results of a call on the host: arrays, unless an argument is a TVM FFI tensor or NumPy is missing."""
    if type(result) is _Tensor:
        if not np:
            return result
        for value in args:
            if type(value) is _Tensor or (type(value) is not np.ndarray and _has_tensor(value)):
                return result
        return _protect(args, to_numpy(result))
    if isinstance(result, tvm_ffi.Array):
        return tuple([_results_for(args, member) for member in result])
    return ReturnedFunction(result) if isinstance(result, tvm_ffi.Function) else result


def _protect(args: Iterable[Any], result: np.ndarray) -> np.ndarray:
    """The result, made read-only if it shares memory with a read-only argument."""
    for value in args:
        if type(value) is np.ndarray:
            if not value.flags.writeable and np.may_share_memory(value, result):
                result.flags.writeable = False
        elif type(value) in (tuple, list):
            _protect(value, result)
        elif isinstance(value, _BUFFERS):
            _protect([np.asarray(value)], result)
        elif hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == _KINDS["cpu"]:
            with contextlib.suppress(TypeError, RuntimeError, BufferError):  # NumPy has no type for it
                _protect([np.from_dlpack(value)], result)
    return result


def _is_read_only(value: Any) -> bool:
    if isinstance(value, ARRAY):
        return not value.flags.writeable
    if isinstance(value, _BUFFERS):
        return memoryview(value).readonly
    return type(value) in (tuple, list) and any(map(_is_read_only, value))
