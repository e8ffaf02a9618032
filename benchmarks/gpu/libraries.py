# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled modules as shared libraries, built anywhere and called on a machine with a GPU; and device times.

Building one needs the package and g++; calling it needs only PyTorch and apache-tvm-ffi.
"""

from __future__ import annotations

import ctypes
import math
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

RUNTIME = "librelax_runtime.so"


def write_library(folder: Path, name: str, module: Any, chip: str, libraries: Sequence[str] = ()) -> Any:
    """Compiles a module for a chip and any x86-64 host with AVX2; also copies the runtime to the folder."""
    import relax_mlir
    from relax_mlir.runtime import library_path

    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUNTIME).write_bytes(library_path().read_bytes())
    target = relax_mlir.Target("x86_64-linux-gnu", "x86-64-v3", chip=chip, libraries=libraries)
    code = relax_mlir.compile_code(module, target, cached=False)
    object = folder / f"{name}.o"
    object.write_bytes(code.object)
    link = ["g++", "-shared", "-o", folder / f"{name}.so", object, folder / RUNTIME, "-Wl,-rpath,$ORIGIN"]
    subprocess.run([*link, "-Wl,-z,undefs"], check=True)
    object.unlink()
    return code


def load_runtime(folder: Path) -> ctypes.CDLL:
    """The runtime, once for the process; libraries are loaded after it."""
    import tvm_ffi  # noqa: F401 - before the runtime, which needs it

    return ctypes.CDLL(str(folder.resolve() / RUNTIME), mode=ctypes.RTLD_GLOBAL)


def load_library(folder: Path, name: str) -> Any:
    import tvm_ffi

    return tvm_ffi.load_module(str(folder.resolve() / f"{name}.so"))


def runtime_function(runtime: ctypes.CDLL, name: str) -> Any:
    """A runtime function with TVM FFI's calling convention."""
    import tvm_ffi

    return tvm_ffi.core.Function.__from_extern_c__(ctypes.cast(getattr(runtime, name), ctypes.c_void_p).value)


def captured(call: Callable[[], object]) -> Callable[[], None]:
    """A replay of the call from a CUDA graph."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    kept = []
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
        kept.append(call())

    def replay() -> None:
        graph.replay()
        assert kept  # results keep their memory as long as the graph lives

    return replay


def milliseconds(call: Callable[..., object], *arguments: Any, count: int = 20) -> float:
    """The median of the device time."""
    import torch

    for _ in range(3):
        call(*arguments)
    times = []
    for _ in range(count):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call(*arguments)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def milliseconds_in_turns(
    calls: Mapping[str, Callable[[], object]], rounds: int = 9, turn: float = 10.0
) -> dict[str, float]:
    """The median of the device time for each of several calls, which take turns.

    A turn consists of several consecutive calls, about `turn` milliseconds of them, so that the launch latency of the
    first one hardly counts.
    """
    import torch

    counts = {name: max(1, math.ceil(turn / milliseconds(call, count=3))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(counts[name]):
                call()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end) / counts[name])
    return {name: statistics.median(of_call) for name, of_call in times.items()}
