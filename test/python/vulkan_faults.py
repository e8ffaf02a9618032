# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for tests that make Vulkan functions fail, or change the properties of a device (test/vulkan)."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vulkan import LOADER

import relax_mlir

loader = ctypes.CDLL(str(LOADER))
for _name in ("calls", "objects", "cache_bytes"):
    getattr(loader, f"relax_vulkan_{_name}").restype = ctypes.c_int64

OUT_OF_HOST_MEMORY, OUT_OF_MEMORY, NOT_STARTED, LOST, NOT_MAPPED = -1, -2, -3, -4, -5
TOO_MANY, UNKNOWN, REJECTED = -10, -13, -1000012000

KINDS = (
    *("Device", "Memory", "Buffer", "ShaderModule", "Pipeline", "PipelineLayout", "PipelineCache", "Semaphore"),
    *("CommandPool", "CommandBuffer", "DescriptorPool", "DescriptorSetLayout"),
)


@contextmanager
def failing(function: str, code: int, nth: int = 0) -> Iterator[None]:
    """Makes the nth call of a Vulkan function fail, or every call."""
    loader.relax_vulkan_fail(function.encode(), ctypes.c_int64(nth), code)
    try:
        yield
    finally:
        loader.relax_vulkan_fail(function.encode(), ctypes.c_int64(0), 0)


@contextmanager
def setting(name: str, value: int) -> Iterator[None]:
    """Changes a reported property of a device (test/vulkan/Limits.cpp)."""
    loader.relax_vulkan_set(name.encode(), ctypes.c_int64(value))
    try:
        yield
    finally:
        loader.relax_vulkan_unset(name.encode())


def calls(function: str) -> int:
    """The number of calls of a Vulkan function."""
    return loader.relax_vulkan_calls(function.encode())


def objects() -> dict[str, int]:
    """The number of objects of each kind."""
    return {kind: loader.relax_vulkan_objects(kind.encode()) for kind in KINDS}


class Unchanged:
    """Checks that the block leaves allocations unchanged."""

    def __init__(self, device: relax_mlir.Device | None = None) -> None:
        self.device = device

    def counts(self) -> tuple[object, ...]:
        gc.collect()
        if not self.device:
            return (objects(), relax_mlir.runtime.pool_statistics().used)
        self.device.trim_memory()
        return objects(), self.device.memory_statistics().used, relax_mlir.runtime.pool_statistics().used

    def __enter__(self) -> None:
        self.before = self.counts()

    def __exit__(self, kind: object, *_: object) -> None:
        if not kind:
            after = self.counts()
            assert after == self.before, (self.before, after)


def fails(call: Callable[[], object], kind: type[Exception], *texts: str) -> BaseException:
    """The error that a call raises, which contains these texts, without the frames that keep the arguments alive."""
    try:
        call()
    except kind as error:
        message = str(error)
        assert all(text in message for text in texts), message
        return error
    raise AssertionError(f"no {kind.__name__}, which was to say {texts}")
