# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share that run on a device of Vulkan: a GPU, or Mesa's lavapipe on the CPU (mesa-vulkan-drivers)."""

from __future__ import annotations

import functools
import os
from pathlib import Path

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


def is_lavapipe() -> bool:
    """Whether the device is the CPU."""
    return not reason() and relax_mlir.Device("vulkan").name.startswith("llvmpipe")


def environment() -> dict[str, str]:
    """Variables for a process of its own, without layers that this one may have."""
    return {name: value for name, value in os.environ.items() if name != "VK_INSTANCE_LAYERS"}


def has_validation() -> bool:
    """Whether Khronos' validation layer is installed."""
    folders = ("/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d")
    return any(Path(folder, "VkLayer_khronos_validation.json").exists() for folder in folders)
