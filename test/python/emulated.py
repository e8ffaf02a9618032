# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share that use the emulated device (test/emulator) in place of the CUDA driver.

Importing this makes it the driver of this process.
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
    """The compiled functions of test/emulator by name, in a copy: what is bound to them is nobody else's."""

    def __init__(self, folder: Path) -> None:
        library()  # which they are linked to
        self._library = ctypes.CDLL(shutil.copy(EXAMPLE, folder))

    def __call__(self, name: str) -> tvm_ffi.Function:
        address = ctypes.cast(getattr(self._library, f"__tvm_ffi_{name}"), ctypes.c_void_p).value
        return tvm_ffi.core.Function.__from_extern_c__(address)

    def unload(self) -> None:
        self._library.relax_unload()


def open_device() -> Device:
    """Of the fixture `device` of a module: `device = pytest.fixture(open_device, scope="module")`."""
    return Device("cuda", 0)


def load_example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Of the fixture `functions` of a module."""
    return Example(tmp_path_factory.mktemp("example"))


for _name in ("bytes", "blocks", "calls", "objects"):
    getattr(emulator, f"relax_emulator_{_name}").restype = ctypes.c_int64
emulator.relax_emulator_log.restype = ctypes.c_char_p


@contextmanager
def failing(function: str, code: int, nth: int = 0) -> Iterator[None]:
    """Lets the nth call of a function of the driver fail, or every one."""
    emulator.relax_emulator_fail(function.encode(), nth, code)
    try:
        yield
    finally:
        emulator.relax_emulator_fail(function.encode(), 0, 0)


@contextmanager
def launches() -> Iterator[list[str]]:
    """The launches of kernels until the end, each with its name, blocks, threads and shared memory."""
    lines: list[str] = []
    emulator.relax_emulator_clear_log()
    yield lines
    lines += emulator.relax_emulator_log().decode().splitlines()


def calls(function: str) -> int:
    """How often a function of the driver was called."""
    return emulator.relax_emulator_calls(function.encode())


def blocks() -> int:
    """How many blocks of memory are allocated on all devices."""
    return emulator.relax_emulator_blocks()


def objects() -> int:
    """How many modules, streams, graphs and links of the driver there are."""
    return emulator.relax_emulator_objects()


def run_python(source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, **environment},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
