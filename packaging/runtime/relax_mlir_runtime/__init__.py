# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of relax-mlir alone: loads folders that the compiler exported, and runs the code in them.

>>> from relax_mlir_runtime import load, to_memoryview
>>> main = load("folder")["main"]
>>> main(x)  # a NumPy array, if NumPy is installed; else a TVM FFI tensor, which supports DLPack

Modules are those of relax-mlir: `load` is `relax_mlir.load_exported`, `load_program` that of
`relax_mlir.frontends.program`. A process that imports both packages has two runtimes, each with its own memory and
threads.
"""

from importlib.metadata import PackageNotFoundError, version

from .errors import DeviceError, MissingPackageError, ModelError, RelaxError, WeightError
from .execution.buffers import from_buffer, to_memoryview
from .export import load_exported as load
from .frontends.compiled import load_program
from .runtime import Device, Executable, profile, set_pool_limit, set_thread_count, thread_count, threads

try:
    __version__ = version("relax-mlir-runtime")
except PackageNotFoundError:  # the sources, which are not installed
    __version__ = "unknown"

__all__ = [
    "Device",
    "DeviceError",
    "Executable",
    "MissingPackageError",
    "ModelError",
    "RelaxError",
    "WeightError",
    "from_buffer",
    "load",
    "load_program",
    "profile",
    "set_pool_limit",
    "set_thread_count",
    "thread_count",
    "threads",
    "to_memoryview",
]
