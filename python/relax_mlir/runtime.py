# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of compiled code: memory, threads, and functions that can be called.

Compiled functions follow the calling convention of TVM FFI: arguments are NumPy arrays, or tensors of any
library that speaks DLPack, and are not copied.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np
import tvm_ffi

from . import _relax
from .errors import DeviceError, RelaxError

if TYPE_CHECKING:
    from .compiler import Code

_SYMBOLS = (
    "relax_rt_alloc",
    "relax_rt_retain",
    "relax_rt_release",
    "relax_rt_fail",
    "relax_rt_parallel_for",
    "relax_rt_call",
    "relax_rt_call_library",
    "relax_rt_make_closure",
    "relax_rt_bind_weight",
    "relax_rt_require_weights",
    "relax_rt_device_alloc",
    "relax_rt_device_launch",
    "relax_rt_device_constant",
    "relax_rt_device_read",
    "relax_rt_device_write",
    "relax_rt_device_unload",
    "_mlir_memref_to_llvm_alloc",
    "_mlir_memref_to_llvm_aligned_alloc",
    "_mlir_memref_to_llvm_free",
)


tvm_ffi.register_error("DeviceError", DeviceError)


_EMULATOR_SYMBOLS = (
    "relax_emulator_id",
    "relax_emulator_barrier",
    "relax_emulator_shuffle",
    "relax_emulator_shared",
)


def _symbols(code: Code) -> Iterator[tuple[str, Any]]:
    """The functions that compiled code calls."""
    for name in _SYMBOLS:
        yield name, getattr(library(), name)
    if code.target.chip == "emulated":
        # GPU code that was compiled for the host; the emulator takes the place of the driver.
        emulator = ctypes.CDLL(os.environ["RELAX_CUDA_DRIVER"])
        for name in _EMULATOR_SYMBOLS:
            yield name, getattr(emulator, name)


class PoolStatistics(NamedTuple):
    """Bytes in use, the most so far, bytes held from the system, and how often it was asked for more."""

    used: int
    peak: int
    held: int
    requests: int


def library_path() -> Path:
    """The runtime's shared library."""
    path = Path(__file__).parent / "lib" / "librelax_runtime.so"
    # An editable install keeps it beside the extension.
    return path if path.exists() else Path(_relax.__file__).parent / "lib" / path.name


@functools.cache
def library() -> ctypes.CDLL:
    """The same, loaded."""
    return ctypes.CDLL(str(library_path()))


def pool_statistics() -> PoolStatistics:
    """What the memory pool holds now."""
    words = (ctypes.c_int64 * 4)()
    library().relax_rt_pool_statistics(words)
    return PoolStatistics(*words)


def reset_pool_peak() -> None:
    """Counts the peak anew from what is in use now."""
    library().relax_rt_pool_reset_peak()


def trim_pool() -> None:
    """Gives memory that is not in use back to the system."""
    library().relax_rt_pool_trim()


def set_pool_limit(bytes: int | None) -> None:
    """Lets the pool hold no more than so many bytes; a call that needs more raises `MemoryError`."""
    library().relax_rt_pool_set_limit(ctypes.c_int64(bytes or 0))


def thread_count() -> int:
    """The threads that kernels run on, the calling one included."""
    return int(library().relax_rt_thread_count())


def set_thread_count(count: int | None) -> None:
    """Sets it; None for one thread a processor. No call may be running."""
    library().relax_rt_set_thread_count(ctypes.c_int32(count or 0))


def as_argument(value: Any) -> Any:
    """What TVM FFI takes for a value; arrays are not copied."""
    if isinstance(value, np.ndarray):
        return _from_numpy(value)
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (tuple, list):
        return [as_argument(member) for member in value]
    return value


_NOT_IN_DLPACK = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
"""Types of ml_dtypes, which NumPy does not export."""


def _from_numpy(array: np.ndarray) -> Any:
    if array.dtype.isbuiltin != 1 and array.dtype.name in _NOT_IN_DLPACK:
        raise RelaxError(
            f"NumPy cannot hand over an array of {array.dtype.name} without a copy; pass a tensor of PyTorch or JAX"
        )
    if array.flags.writeable:
        return tvm_ffi.from_dlpack(array)
    return tvm_ffi.from_dlpack(array.__dlpack__(max_version=(1, 0)))


_KINDS = {"cpu": 1, "cuda": 2}
"""DLPack's types of devices."""

_CODES = {"bool": 6, "bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
"""DLPack's codes of the element types that have one of their own."""


@functools.cache
def _function(name: str) -> tvm_ffi.Function:
    """A function of the runtime that follows the convention of TVM FFI."""
    address = ctypes.cast(getattr(library(), name), ctypes.c_void_p).value
    return tvm_ffi.core.Function.__from_extern_c__(address)


class Device:
    """A device that compiled code runs on, and the tensors there.

    Raises `DeviceError` where there is none: no driver, one that is too old, fewer devices. Memory that is not there
    raises `MemoryError`.

    >>> device = Device("cuda", 0)
    >>> y = executable["main"](device.put(x))
    >>> device.get(y)  # a NumPy array; waits for the result

    Attributes:
      kind, index: what it was made of.
      name: the device's, as its driver calls it.
      capability: major and minor version of what it can do: (9, 0).
      memory: how many bytes it has.
    """

    def __init__(self, kind: str = "cuda", index: int = 0) -> None:
        if kind not in _KINDS or kind == "cpu":
            raise DeviceError(f"there is no kind of device '{kind}'; there is 'cuda'")
        self.kind, self.index = kind, index
        self.name, *capability, self.memory = self._call("relax_rt_device_describe")
        self.capability = tuple(capability)

    def __repr__(self) -> str:
        return f"Device({self.kind!r}, {self.index})"

    @property
    def architecture(self) -> str:
        """Its instruction set, by LLVM's name: "sm_90"."""
        return "sm_{}{}".format(*self.capability)

    def put(self, value: Any) -> tvm_ffi.Tensor:
        """A copy of an array or of a tensor, on this device, of the same shape and element type.

        Arrays of ml_dtypes are taken too.
        """
        array = value if hasattr(value, "__dlpack__") else np.asarray(value)
        code = _CODES.get(str(getattr(array, "dtype", "")))
        if isinstance(array, np.ndarray) and code and array.dtype != np.bool_:
            bits = 8 * array.dtype.itemsize
            return self._copy(_from_numpy(array.view(f"u{bits // 8}")), code, bits)
        return self._copy(as_argument(array))

    def get(self, tensor: Any) -> np.ndarray:
        """The elements of a tensor, when they are there. Those that NumPy lacks are of ml_dtypes' types."""
        source = tensor if isinstance(tensor, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(tensor)
        name = str(source.dtype)
        host = (_KINDS["cpu"], 0)
        if name not in _NOT_IN_DLPACK:
            return np.from_dlpack(_function("relax_rt_copy")(source, *host))
        dtype = np.dtype(getattr(ml_dtypes, name))
        unsigned = 1
        return np.from_dlpack(_function("relax_rt_copy")(source, *host, unsigned, 8 * dtype.itemsize)).view(dtype)

    def synchronize(self) -> None:
        """Waits until all that was put into its streams is done; raises what has failed there."""
        self._call("relax_rt_device_synchronize")

    def memory_statistics(self) -> PoolStatistics:
        """What its memory pool holds now."""
        return PoolStatistics(*self._call("relax_rt_device_pool_statistics"))

    def reset_memory_peak(self) -> None:
        """Counts the peak anew from what is in use now."""
        self._call("relax_rt_device_pool_reset_peak")

    def trim_memory(self) -> None:
        """Gives memory that is not in use back to the driver."""
        self._call("relax_rt_device_pool_trim")

    def set_memory_limit(self, bytes: int | None) -> None:
        """Lets its pool hold no more than so many bytes."""
        self._call("relax_rt_device_pool_set_limit", bytes or 0)

    def _call(self, name: str, *args: Any) -> Any:
        return _function(name)(_KINDS[self.kind], self.index, *args)

    def _copy(self, tensor: Any, *dtype: int) -> tvm_ffi.Tensor:
        if not isinstance(tensor, tvm_ffi.Tensor):
            tensor = tvm_ffi.from_dlpack(tensor)
        return _function("relax_rt_copy")(tensor, _KINDS[self.kind], self.index, *dtype)


def _as_device_argument(value: Any, kind: str) -> Any:
    """What TVM FFI takes for an argument of a function on a device; nothing is moved there unseen."""
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"a NumPy array is in the memory of the host, and the function runs on {kind}; "
            f'put it there first: Device("{kind}").put(array)'
        )
    if type(value) in (tuple, list):
        return [_as_device_argument(member, kind) for member in value]
    return as_argument(value)


_of_callables: list[Any] = []
"""Code that gives out callables, which is never unloaded."""


class HugePages:
    """Memory in pages of 2 MiB, for data that is read in order: it comes nearly twice as fast.

    Arrays are placed one behind the other in pieces of at least 64 MiB.
    """

    _PAGE, _PIECE = 2 << 20, 64 << 20

    def __init__(self) -> None:
        self._free = np.empty(0, np.uint8)

    def copy(self, array: np.ndarray) -> np.ndarray:
        """The array in that memory. Small ones share a page with others."""
        size = -(-array.nbytes // 64) * 64
        if size > len(self._free):
            self._free = self._allocate(max(size, self._PIECE))
        place, self._free = self._free[: array.nbytes], self._free[size:]
        result = place.view(array.dtype).reshape(array.shape)
        result[...] = array
        return result

    def _allocate(self, size: int) -> np.ndarray:
        memory = mmap.mmap(-1, size + self._PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without them has the others
                memory.madvise(mmap.MADV_HUGEPAGE)
        data = np.frombuffer(memory, np.uint8)
        return data[-data.ctypes.data % self._PAGE :][:size]


class _Loaded:
    """Code in this process, and what it needs as long as one of its functions lives."""

    def __init__(self, code: Code) -> None:
        self.session = _relax.JITSession()
        self.weights: dict[str, Any] = {}
        for name, function in _symbols(code):
            self.session.define(name, ctypes.cast(function, ctypes.c_void_p).value)
        self.session.add_object(code.object)
        if code.device:
            unload = ctypes.CFUNCTYPE(None)(self.session.lookup("relax_unload"))
            # The session must outlive the call; the end of the process needs none.
            weakref.finalize(self, lambda unload, session: unload(), unload, self.session).atexit = False


class Executable:
    """A compiled module: `executable["main"](x)` calls its function `main`.

    The tensors of a module for a device are there, arguments and results (`Device`).

    A call raises `TypeError` or `ValueError` where an argument is not what the function's signature says,
    `MemoryError` where there is no memory; the message names the function, the argument, and what was expected
    and given. The module stays usable after an error.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.functions = tuple(code.functions)
        self._loaded = _Loaded(code)
        self.weights = self._loaded.weights
        if any("->" in result for function in code.functions.values() for result in function["results"]):
            # A callable that was returned has no way to keep the code that it is of.
            _of_callables.append(self._loaded)
        self._callables = {name: self._with_arrays(name) for name in self.functions}

    def _load(self, name: str) -> tvm_ffi.Function:
        address = self._loaded.session.lookup(f"__tvm_ffi_{name}")
        return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=self._loaded)

    def _with_arrays(self, name: str) -> Callable[..., Any]:
        """A function that takes NumPy arrays of every kind; of a device, tensors there."""
        function = self._load(name)
        kind = self.code.device
        convert = functools.partial(_as_device_argument, kind=kind) if kind else as_argument

        def call(*args: Any) -> Any:
            return function(*map(convert, args))

        call.__name__ = call.__qualname__ = name
        return call

    def __getitem__(self, name: str) -> Callable[..., Any]:
        function = self._callables.get(name)
        if function is None:
            raise KeyError(f"the module has no function '{name}'; it has {', '.join(self.functions)}")

        return function

    def __contains__(self, name: object) -> bool:
        return name in self._callables

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Writes a folder that runs without the compiler (`relax_mlir.export`), with the weights that are bound."""
        from .export import export

        export(self.code, folder, self.weights)

    def bind_weights(self, weights: Mapping[str, Any], *, copy: bool = True) -> None:
        """Gives the module's weights their values, by name.

        Args:
          copy: arrays are copied to memory that is fast to read (`HugePages`); if not, they are used where they are,
            and must not change. For a device they are always copied, to its memory.

        Raises:
          ValueError: the module has no such weight, or it has another shape.
          TypeError: it has another element type.
        """
        if not self.code.weights and weights:
            raise ValueError(f"the module has no weight '{next(iter(weights))}'; it has none at all")
        bind, memory = self._load("bind_weight"), HugePages()
        device = Device(self.code.device) if self.code.device else None
        for name, value in weights.items():
            if device and isinstance(value, np.ndarray):
                tensor = device.put(value)
            else:
                tensor = as_argument(memory.copy(value) if copy and isinstance(value, np.ndarray) else value)
            bind(name, tensor)
            self.weights[name] = tensor
