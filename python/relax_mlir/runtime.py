# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of compiled code: memory, threads, and callable functions.

Compiled functions follow the calling convention of TVM FFI: arguments are NumPy arrays (with the types of ml_dtypes),
`memoryview`s of numbers, or tensors of any library that supports DLPack, and are not copied. Results on the host are
NumPy arrays, also without copying, or PyTorch or TVM FFI tensors if an argument is one. Results on a device are PyTorch
or TVM FFI tensors.

This module and those that it imports need neither MLIR nor NumPy: the wheel of packaging/runtime has them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .execution.function import CompiledFunction
from .execution.profiling import KernelTime, KernelTimes, profile
from .execution.shared_library import (
    PoolStatistics,
    TargetName,
    check_target,
    compared_features,
    device_of,
    library,
    library_path,
    machine,
    missing_features,
    pool_statistics,
    read_target,
    reset_pool_peak,
    runs_here,
    runs_on,
    set_pool_limit,
    set_thread_count,
    thread_count,
    threads,
    trim_pool,
)

if TYPE_CHECKING:
    from .execution.arguments import ReturnedFunction, as_argument, to_numpy
    from .execution.device import Device, to_host
    from .execution.executable import Captured, CaptureStatistics, Executable, HugePages
else:
    _HOMES = {
        **dict.fromkeys(("ReturnedFunction", "as_argument", "to_numpy"), "arguments"),
        **dict.fromkeys(("Device", "to_host"), "device"),
        **dict.fromkeys(("Captured", "CaptureStatistics", "Executable", "HugePages"), "executable"),
    }

    def __getattr__(name: str) -> Any:
        """What calls of compiled code need, imported when it is used: TVM FFI imports PyTorch, which takes seconds."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".execution.{_HOMES[name]}", __package__), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """All names, also of what is imported when it is used."""
        return sorted({*globals(), *_HOMES})


__all__ = [
    "CaptureStatistics",
    "Captured",
    "CompiledFunction",
    "Device",
    "Executable",
    "HugePages",
    "KernelTime",
    "KernelTimes",
    "PoolStatistics",
    "ReturnedFunction",
    "TargetName",
    "as_argument",
    "check_target",
    "compared_features",
    "device_of",
    "library",
    "library_path",
    "machine",
    "missing_features",
    "pool_statistics",
    "profile",
    "read_target",
    "reset_pool_peak",
    "runs_here",
    "runs_on",
    "set_pool_limit",
    "set_thread_count",
    "thread_count",
    "threads",
    "to_host",
    "to_numpy",
    "trim_pool",
]
