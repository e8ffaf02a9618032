# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library in this process: its functions, the memory pool, and threads."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tvm_ffi

from .. import _relax
from ..errors import DeviceError, RelaxError

if TYPE_CHECKING:
    from ..code import Code

_SYMBOLS = (
    "relax_rt_alloc",
    "relax_rt_retain",
    "relax_rt_release",
    "relax_rt_fail",
    "relax_rt_check_stack",
    "relax_rt_check_indices",
    "relax_rt_parallel_for",
    "relax_rt_call",
    "relax_rt_call_library",
    "relax_rt_make_closure",
    "relax_rt_bind_weights",
    "relax_rt_weights",
    "relax_rt_require_cpu",
    "relax_rt_unload_weights",
    "relax_rt_poll",
    "relax_rt_device_alloc",
    "relax_rt_device_scratch",
    "relax_rt_device_launch",
    "relax_rt_device_tensor_map",
    "relax_rt_device_constant",
    "relax_rt_device_read",
    "relax_rt_device_write",
    "relax_rt_device_unload",
    "_mlir_memref_to_llvm_alloc",
    "_mlir_memref_to_llvm_aligned_alloc",
    "_mlir_memref_to_llvm_free",
)


_MOST_THREADS = 1024

tvm_ffi.register_error("RecursionError", RecursionError)
tvm_ffi.register_error("DeviceError", DeviceError)
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)  # in a callback

_EMULATOR_SYMBOLS = (
    "relax_emulator_id",
    "relax_emulator_barrier",
    "relax_emulator_shuffle",
    "relax_emulator_shared",
    "relax_emulator_copy",
    "relax_emulator_end_group",
    "relax_emulator_wait",
    "relax_emulator_load_matrices",
    "relax_emulator_multiply",
)


def _symbols(code: Code) -> Iterator[tuple[str, Any]]:
    """The functions that compiled code calls."""
    for name in _SYMBOLS:
        yield name, getattr(library(), name)
    if code.target.chip == "emulated":
        # GPU code compiled for the host; the emulator replaces the driver.
        try:
            emulator = ctypes.CDLL(os.environ["RELAX_CUDA_DRIVER"])
            functions = [getattr(emulator, name) for name in _EMULATOR_SYMBOLS]
        except (KeyError, OSError, AttributeError):
            raise DeviceError(
                "code for the emulated device needs it as the driver: RELAX_CUDA_DRIVER is not it. In a checkout "
                f"`make setup` builds it: {library_path().with_name('librelax_emulator.so')}"
            ) from None
        yield from zip(_EMULATOR_SYMBOLS, functions)


class PoolStatistics(NamedTuple):
    """Bytes in use, their peak, bytes held from the system, and the number of system allocations."""

    used: int
    peak: int
    held: int
    requests: int


def library_path() -> Path:
    """The runtime's shared library."""
    path = Path(__file__).parent.parent / "lib" / "librelax_runtime.so"
    # An editable install keeps it next to the extension.
    return path if path.exists() else Path(_relax.__file__).parent / "lib" / path.name


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime's shared library, loaded."""
    threads = os.environ.get("RELAX_NUM_THREADS")
    if threads and not (threads.isdecimal() and 1 <= int(threads) <= _MOST_THREADS):
        raise RelaxError(f"RELAX_NUM_THREADS is {threads!r}; expected a number of threads from 1 to {_MOST_THREADS}")
    return ctypes.CDLL(str(library_path()))


def missing_features(features: Iterable[str]) -> tuple[str, ...]:
    """The CPU features, by LLVM's names, that this CPU or operating system lacks (`Code.cpu_features`)."""
    names = ",".join(features).encode()
    missing = ctypes.create_string_buffer(len(names) + 1)
    function = library().relax_rt_missing_features
    function.restype = ctypes.c_int64
    function(names, missing, ctypes.c_int64(len(missing)))
    return tuple(missing.value.decode().split(",")) if missing.value else ()


def pool_statistics() -> PoolStatistics:
    """The current statistics of the memory pool."""
    words = (ctypes.c_int64 * 4)()
    library().relax_rt_pool_statistics(words)
    return PoolStatistics(*words)


def reset_pool_peak() -> None:
    """Resets the peak to the memory in use now."""
    library().relax_rt_pool_reset_peak()


def trim_pool() -> None:
    """Returns unused memory to the system."""
    library().relax_rt_pool_trim()


def set_pool_limit(bytes: int | None) -> None:
    """Limits the bytes that the pool holds; a call that needs more raises `MemoryError`."""
    _check_limit(bytes)
    library().relax_rt_pool_set_limit(ctypes.c_int64(bytes or 0))


def _check_limit(bytes: int | None) -> None:
    if bytes is not None and not 0 < bytes < 1 << 63:
        raise RelaxError(f"a limit of {bytes} bytes; expected at least 1, or None")


def thread_count() -> int:
    """The number of threads that kernels run on, including the calling thread."""
    return int(library().relax_rt_thread_count())


def set_thread_count(count: int | None) -> None:
    """Sets the number of threads; None for one per processor. Waits for the kernel that is running, if any."""
    if count is not None and not 1 <= count <= _MOST_THREADS:
        raise RelaxError(f"{count} threads; expected from 1 to {_MOST_THREADS}, or None")
    library().relax_rt_set_thread_count(ctypes.c_int32(count or 0))


class _Lent:
    """How many calls have asked for a number of threads of their own, and what the number was before them."""

    lock = threading.Lock()
    calls = 0
    before = 0


@contextlib.contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Runs the kernels of a block on that many threads, the calling one included; None leaves the number as it is.

    The process has one pool of threads, which all calls share: calls that run at the same time on other threads of
    Python have the number of the latest block. The number of before comes back when the last block ends. A block whose
    number differs from it starts its threads again, some ten microseconds for each.
    """
    if count is None:
        yield
        return
    with _Lent.lock:
        if not _Lent.calls:
            _Lent.before = thread_count()
        if thread_count() != count:
            set_thread_count(count)
        _Lent.calls += 1
    try:
        yield
    finally:
        with _Lent.lock:
            _Lent.calls -= 1
            if not _Lent.calls and thread_count() != _Lent.before:
                set_thread_count(_Lent.before)
