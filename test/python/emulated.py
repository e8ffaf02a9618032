# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for tests that use the emulated device (test/emulator) in place of the CUDA driver.

Importing this module makes the emulator the driver of this process.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tvm_ffi

from relax_mlir import Device
from relax_mlir.runtime import library, library_path

EMULATOR = library_path().with_name("librelax_emulator.so")
EXAMPLE = library_path().with_name("librelax_emulator_example.so")

os.environ["RELAX_CUDA_DRIVER"] = str(EMULATOR)
os.environ.setdefault("RELAX_EMULATOR_DEVICES", "2")

emulator = ctypes.CDLL(str(EMULATOR))


class Example:
    """The compiled functions of test/emulator by name, in a private copy with its own bindings."""

    def __init__(self, folder: Path) -> None:
        library()  # the functions are linked to it
        self._library = ctypes.CDLL(shutil.copy(EXAMPLE, folder))

    def __call__(self, name: str) -> tvm_ffi.Function:
        address = ctypes.cast(getattr(self._library, f"__tvm_ffi_{name}"), ctypes.c_void_p).value
        return tvm_ffi.core.Function.__from_extern_c__(address)

    def unload(self) -> None:
        self._library.relax_unload()


def open_device() -> Device:
    """For the fixture `device` of a module: `device = pytest.fixture(open_device, scope="module")`."""
    return Device("cuda", 0)


def load_example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """For the fixture `functions` of a module."""
    return Example(tmp_path_factory.mktemp("example"))


for _name in ("bytes", "blocks", "calls", "objects"):
    getattr(emulator, f"relax_emulator_{_name}").restype = ctypes.c_int64
emulator.relax_emulator_log.restype = ctypes.c_char_p


@contextmanager
def failing(function: str, code: int, nth: int = 0) -> Iterator[None]:
    """Makes the nth call of a driver function fail, or every call."""
    emulator.relax_emulator_fail(function.encode(), nth, code)
    try:
        yield
    finally:
        emulator.relax_emulator_fail(function.encode(), 0, 0)


@contextmanager
def launches() -> Iterator[list[str]]:
    """Collects the kernel launches in the block, each with its name, blocks, threads and shared memory."""
    lines: list[str] = []
    emulator.relax_emulator_clear_log()
    yield lines
    lines += emulator.relax_emulator_log().decode().splitlines()


def calls(function: str) -> int:
    """The number of calls of a driver function."""
    return emulator.relax_emulator_calls(function.encode())


def blocks() -> int:
    """The number of memory blocks allocated on all devices."""
    return emulator.relax_emulator_blocks()


def objects() -> int:
    """The number of modules, streams, graphs and links in the driver."""
    return emulator.relax_emulator_objects()


def run_python(source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a separate process."""
    return subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, **environment},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
