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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tvm_ffi

from . import _relax
from .errors import RelaxError

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
    "_mlir_memref_to_llvm_alloc",
    "_mlir_memref_to_llvm_aligned_alloc",
    "_mlir_memref_to_llvm_free",
)


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


class Executable:
    """A compiled module: `executable["main"](x)` calls its function `main`.

    A call raises `TypeError` or `ValueError` where an argument is not what the function's signature says,
    `MemoryError` where there is no memory; the message names the function, the argument, and what was expected
    and given. The module stays usable after an error.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.functions = tuple(code.functions)
        self._session = _relax.JITSession()
        runtime = library()
        for name in _SYMBOLS:
            address = ctypes.cast(getattr(runtime, name), ctypes.c_void_p).value
            self._session.define(name, address)
        self._session.add_object(code.object)
        self.weights: dict[str, Any] = {}
        # What a function needs as long as it lives, which may be longer than this object.
        self._kept = (self._session, self.weights)
        if any("->" in result for function in code.functions.values() for result in function["results"]):
            # A callable that was returned has no way to keep the code that it is of.
            _of_callables.append(self._kept)
        self._callables = {name: self._with_arrays(name) for name in self.functions}

    def _load(self, name: str) -> tvm_ffi.Function:
        address = self._session.lookup(f"__tvm_ffi_{name}")
        return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=self._kept)

    def _with_arrays(self, name: str) -> Callable[..., Any]:
        """A function that takes NumPy arrays of every kind."""
        function = self._load(name)

        def call(*args: Any) -> Any:
            return function(*map(as_argument, args))

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
            and must not change.

        Raises:
          ValueError: the module has no such weight, or it has another shape.
          TypeError: it has another element type.
        """
        if not self.code.weights and weights:
            raise ValueError(f"the module has no weight '{next(iter(weights))}'; it has none at all")
        bind, memory = self._load("bind_weight"), HugePages()
        for name, value in weights.items():
            tensor = as_argument(memory.copy(value) if copy and isinstance(value, np.ndarray) else value)
            bind(name, tensor)
            self.weights[name] = tensor
