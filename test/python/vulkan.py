# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share that run on a device of Vulkan: a GPU, or Mesa's lavapipe on the CPU (mesa-vulkan-drivers)."""

from __future__ import annotations

import functools

import pytest

import relax_mlir


@functools.cache
def reason() -> str:
    """Why there is no device; empty where there is one."""
    try:
        relax_mlir.Device("vulkan")
    except relax_mlir.DeviceError as error:
        return str(error)
    return ""


def require() -> None:
    """Skips the test where there is no device."""
    if reason():
        pytest.skip(f"no device of Vulkan: {reason()}")
