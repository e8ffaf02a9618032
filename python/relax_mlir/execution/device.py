# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices: their memory, and copies to and from them."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Any

import tvm_ffi

from ..errors import DeviceError, RelaxError
from ..optional import ARRAY, SCALAR, np
from .arguments import _CODES, _KINDS, as_argument, to_numpy
from .shared_library import PoolStatistics, _check_limit, address_of, library


@functools.cache
def _function(name: str) -> tvm_ffi.Function:
    """A runtime function with TVM FFI's calling convention."""
    return tvm_ffi.core.Function.__from_extern_c__(address_of(getattr(library(), name)))


def _as_tensor(value: Any) -> tvm_ffi.Tensor:
    if isinstance(value, tvm_ffi.Tensor):
        return value
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"expected a tensor, got {type(value).__name__}")
    value = as_argument(value)  # for arrays that are read-only, or whose types NumPy lacks
    return value if isinstance(value, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(value)


def _copy(tensor: Any, *device: int) -> tvm_ffi.Tensor:
    """A copy on a device, which is given by its type and number."""
    return _function("relax_rt_copy")(_as_tensor(tensor), *device)


def to_host(value: Any) -> np.ndarray:
    """The elements of a tensor as an array, copied from its device if it is on one; a tensor where NumPy is missing."""
    if hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] in (_KINDS["cuda"], _KINDS["vulkan"]):
        value = _copy(value, _KINDS["cpu"], 0)
    return np.asarray(to_numpy(value)) if np else value


def _numbers(value: Any, what: str) -> Any:
    """An array, or a value that NumPy makes an array of, as an argument; a tensor unchanged."""
    given = value if hasattr(value, "__dlpack__") or not np else np.asarray(value)
    if isinstance(given, ARRAY) and given.dtype.kind in "OSUMm":  # objects, text, times
        came = f"{type(value).__name__}, whose elements are of dtype {given.dtype}"
        raise RelaxError(f"{what}: expected a tensor, or an array of numbers, got {came}")
    return as_argument(given)


class Device:
    """A device that compiled code runs on, and its tensors.

    Raises `DeviceError` if there is no such device: no driver, an outdated driver, or fewer devices. Running out of
    memory raises `MemoryError`.

    >>> device = Device("cuda", 0)
    >>> y = executable["main"](device.put(x))
    >>> device.get(y)  # a NumPy array; waits for the result

    Attributes:
      kind, index: the constructor's arguments.
      name: the driver's name for the device.
      capability: the major and minor version of its capabilities, such as (9, 0).
      memory: its memory in bytes.
      subgroup: the number of threads that exchange values; 1 if none do.
      architecture: the chip to compile for. For CUDA, LLVM's name including chip-specific features, "sm_90a"; for
        Vulkan, "subgroup_32", "subgroup_32_bound" without buffer addresses, "subgroup_32_narrow" without 64-bit
        integers, "subgroup_32_matrices" with cooperative matrices.
    """

    def __init__(self, kind: str = "cuda", index: int = 0) -> None:
        if kind not in _KINDS or kind == "cpu":
            raise DeviceError(f"there is no kind of device '{kind}'; there are 'cuda' and 'vulkan'")
        if not 0 <= operator.index(index) < 1 << 31:
            raise DeviceError(f"there is no device {kind}:{index}")
        self.kind, self.index = kind, index
        described = self._call("relax_rt_device_describe")
        self.name, *capability, self.memory, self.subgroup, self.architecture = described
        self.capability = tuple(capability)
        if kind == "vulkan" and self.name.startswith("llvmpipe"):
            warnings.warn(
                f"{self.name} (Mesa) ends the loops of a thread after 65535 iterations, and results of longer ones are "
                "wrong there (docs/vulkan.md)",
                RuntimeWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return f"Device({self.kind!r}, {self.index})"

    def put(self, value: Any) -> tvm_ffi.Tensor:
        """A copy of an array or tensor on this device, with the same shape and element type.

        Arrays with types of ml_dtypes are accepted too.
        """
        return _copy(_numbers(value, "put"), _KINDS[self.kind], self.index)

    def write(self, value: Any, tensor: Any) -> None:
        """Writes an array, or a tensor, into a tensor of this device, of the same shape and element type.

        Both must be contiguous. Work enqueued on the stream earlier sees the old elements, later work the new ones.

        Raises:
          ValueError: the shapes or types differ, or the tensor is on another device or on the host.
        """
        target = _as_tensor(tensor)
        if target.__dlpack_device__() != (_KINDS[self.kind], self.index):
            where = "the host" if target.device.type == "cpu" else str(target.device)
            raise RelaxError(f"write: expected a tensor on {self.kind}:{self.index} to write into, got one on {where}")
        _function("relax_rt_write")(_as_tensor(_numbers(value, "write")), target)

    def get(self, tensor: Any) -> np.ndarray:
        """The elements of a tensor; waits for them. Types that NumPy lacks are those of ml_dtypes."""
        return to_numpy(_copy(tensor, _KINDS["cpu"], 0))

    def synchronize(self) -> None:
        """Waits until all work on its streams is done; raises the errors of that work."""
        self._call("relax_rt_device_synchronize")

    def memory_statistics(self) -> PoolStatistics:
        """The current statistics of its memory pool."""
        return PoolStatistics(*self._call("relax_rt_device_pool_statistics"))

    def reset_memory_peak(self) -> None:
        """Resets the peak to the memory in use now."""
        self._call("relax_rt_device_pool_reset_peak")

    def trim_memory(self) -> None:
        """Returns unused memory to the driver."""
        self._call("relax_rt_device_pool_trim")

    def set_memory_limit(self, bytes: int | None) -> None:
        """Limits the bytes that its pool holds; None removes the limit."""
        _check_limit(bytes)
        self._call("relax_rt_device_pool_set_limit", bytes or 0)

    def _call(self, name: str, *args: Any) -> Any:
        return _function(name)(_KINDS[self.kind], self.index, *args)


def _as_device_argument(value: Any, kind: str) -> Any:
    """The argument that TVM FFI takes for a device function; nothing is copied to the device implicitly."""
    if isinstance(value, ARRAY):
        raise TypeError(
            f"a NumPy array is in the memory of the host, and the function runs on {kind}; "
            f'put it there first: Device("{kind}").put(array)'
        )
    if type(value) in (tuple, list):
        return [_as_device_argument(member, kind) for member in value]
    if isinstance(value, SCALAR) and value.dtype.name in _CODES:
        return float(value)  # would become a host tensor otherwise
    return as_argument(value)
