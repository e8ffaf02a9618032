# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library in this process: its functions, the memory pool, and threads."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DeviceError, RelaxError, fail

_MOST_THREADS = 1024

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


def _emulator_symbols() -> dict[str, int]:
    """The functions that GPU code compiled for the host calls; the emulator replaces the driver."""
    try:
        emulator = ctypes.CDLL(os.environ["RELAX_CUDA_DRIVER"])
        return {name: address_of(getattr(emulator, name)) for name in _EMULATOR_SYMBOLS}
    except (KeyError, OSError, AttributeError):
        raise DeviceError(
            "code for the emulated device needs it as the driver: RELAX_CUDA_DRIVER is not it. In a checkout "
            f"`make setup` builds it: {library_path().with_name('librelax_emulator.so')}"
        ) from None


def address_of(function: Any) -> int:
    """The address of a function of a library; 0 for the null pointer."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class PoolStatistics(NamedTuple):
    """Bytes in use, their peak, bytes held from the system, and the number of system allocations."""

    used: int
    peak: int
    held: int
    requests: int


def library_path() -> Path:
    """The runtime's shared library."""
    path = Path(__file__).parent.parent / "lib" / "librelax_runtime.so"
    if not path.exists():
        # An editable install keeps it next to the extension.
        extension = importlib.util.find_spec("._relax", __name__.partition(".")[0])
        if extension and extension.origin:
            return Path(extension.origin).parent / "lib" / path.name
    return path


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime's shared library, loaded."""
    threads = os.environ.get("RELAX_NUM_THREADS")
    if threads and not (threads.isdecimal() and 1 <= int(threads) <= _MOST_THREADS):
        raise RelaxError(f"RELAX_NUM_THREADS is {threads!r}; expected a number of threads from 1 to {_MOST_THREADS}")
    return ctypes.CDLL(str(library_path()))


def missing_features(features: Iterable[str]) -> tuple[str, ...]:
    """The CPU features, by LLVM's names, that this CPU or operating system lacks (`Code.cpu_features`)."""
    missing, _ = _text_of("relax_rt_missing_features", ",".join(features))
    return tuple(missing.split(",")) if missing else ()


def compared_features(features: Iterable[str]) -> str:
    """The features that code needs and those that this CPU has, for the end of a message."""
    found, _ = _text_of("relax_rt_cpu_features")
    return f"(the code needs {', '.join(features)}; this CPU has {found.replace(',', ', ')})"


class TargetName(NamedTuple):
    """The parts of a target's name (lib/Runtime/Core/TargetName.h), empty where it leaves them to this machine.

    `device` is the kind of device, "" for a CPU, and `chip` the GPU; `features` has one form for each set.
    """

    triple: str
    cpu: str
    features: str
    device: str
    chip: str
    libraries: tuple[str, ...]


def read_target(text: str) -> TargetName:
    """Reads the name of a target, such as "cpu:x86-64-v3,+avx512bf16" or "cuda:sm_90".

    Raises:
      RelaxError: the name has another form.
    """
    parts, is_valid = _text_of("relax_rt_read_target", text)
    if not is_valid:
        fail(parts)
    triple, cpu, features, device, chip, libraries = parts.split("\n")
    return TargetName(triple, cpu, features, device, chip, tuple(filter(None, libraries.split("+"))))


def check_target(features: str, chip: str, libraries: Iterable[str]) -> str:
    """Checks the parts of a target that need no compiler, and returns its features in their one form.

    Raises:
      RelaxError: a part has another form, or the GPU has no such library.
    """
    text, is_valid = _text_of("relax_rt_check_target", features, chip, "".join(f"+{name}" for name in libraries))
    if not is_valid:
        raise RelaxError(text)
    return text


def _text_of(name: str, *arguments: str) -> tuple[str, bool]:
    """What a function of the runtime writes, and whether it is a result rather than a message."""
    function = getattr(library(), name)
    function.restype = ctypes.c_int64
    size = 1024
    while True:
        text = ctypes.create_string_buffer(size)
        needed = function(*map(_name, arguments), text, ctypes.c_int64(size))
        if abs(needed) <= size:
            return text.value.decode(errors="replace"), needed > 0
        size = abs(needed)


def device_of(chip: str) -> str:
    """The kind of device that a GPU is, by its name: "cuda" for "sm_90", "vulkan" for "subgroup_8"; "" for no name.

    Raises:
      RelaxError: this is not the name of a GPU.
    """
    if not chip:
        return ""
    function = library().relax_rt_device_of
    function.restype = ctypes.c_char_p
    kind = function(_name(chip))
    if kind is None:
        raise RelaxError(f"there is no GPU {chip!r}; NVIDIA GPUs are named 'sm_90', Vulkan devices 'subgroup_32'")
    return kind.decode()


def runs_on(chip: str, device: str) -> bool:
    """Whether code for a GPU runs on another one, both by name."""
    return bool(library().relax_rt_runs_on(_name(chip), _name(device)))


def runs_here(triple: str) -> bool:
    """Whether code for a triple can run in this process, on a CPU that has the features."""
    return bool(library().relax_rt_runs_here(_name(triple)))


def _name(text: str) -> bytes:
    return text.encode(errors="replace").replace(b"\0", b"?")


def machine() -> str:
    """The architecture and the system of this process in the words of LLVM's triples, such as "x86_64-linux"."""
    function = library().relax_rt_machine
    function.restype = ctypes.c_char_p
    return function().decode()


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
