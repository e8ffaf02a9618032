# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for tests on a Vulkan device: a GPU, or Mesa's lavapipe on the CPU (mesa-vulkan-drivers).

Importing this module makes test/vulkan the loader of this process: it forwards everything to the machine's loader,
except for failures that tests request (vulkan_faults.py).
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import relax_mlir
from relax_mlir.runtime import library_path

LOADER = library_path().with_name("librelax_vulkan_faults.so")
KEPT = ""
"""The folder of the SPIR-V modules that this process has passed to the driver; empty if they are not kept."""
if LOADER.exists() and os.environ.setdefault("RELAX_VULKAN_LOADER", str(LOADER)) == str(LOADER):
    KEPT = tempfile.mkdtemp(prefix="relax-spirv-")
    atexit.register(shutil.rmtree, KEPT, ignore_errors=True)
    os.environ["RELAX_VULKAN_KEEP"] = KEPT


@functools.cache
def reason() -> str:
    """The reason why there is no device; empty if there is one."""
    try:
        relax_mlir.Device("vulkan")
    except relax_mlir.DeviceError as error:
        return str(error)
    return ""


def require() -> None:
    """Skips the test if there is no device."""
    if reason():
        pytest.skip(f"no Vulkan device: {reason()}")


def open_device() -> relax_mlir.Device:
    """For the fixture `device` of a module: `device = pytest.fixture(open_device, scope="module")`."""
    require()
    return relax_mlir.Device("vulkan")


def is_lavapipe() -> bool:
    """Whether the device is the CPU."""
    return not reason() and relax_mlir.Device("vulkan").name.startswith("llvmpipe")


def skipping(call: Callable[..., Any]) -> Callable[..., Any]:
    """Skips the test if SwiftShader lacks a feature that a kernel needs: it has only f32 and i32."""

    def called(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except relax_mlir.DeviceError as error:
            if " lacks " in str(error) and relax_mlir.Device("vulkan").name.startswith("SwiftShader"):
                pytest.skip(str(error))
            raise

    return called


def swiftshader() -> str:
    """The driver manifest of SwiftShader, which comes with Chromium; skips the test if it is missing."""
    folders = ("/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome", "/opt/chromium")
    found = [os.environ.get("RELAX_SWIFTSHADER", ""), *(f"{folder}/vk_swiftshader_icd.json" for folder in folders)]
    for path in found:
        if path and Path(path).exists():
            return path
    pytest.skip("there is no vk_swiftshader_icd.json of Chromium; RELAX_SWIFTSHADER may name one")


def environment() -> dict[str, str]:
    """Variables for a separate process, without this process's layers and the warning about lavapipe."""
    own = ("VK_INSTANCE_LAYERS", "RELAX_VULKAN_KEEP")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return {**kept, "PYTHONWARNINGS": "ignore::RuntimeWarning"}


def validate() -> None:
    """Runs spirv-val, if available, on the modules that this process has passed to the driver since the last time."""
    if KEPT and shutil.which("spirv-val"):
        for module in Path(KEPT).iterdir():
            subprocess.run(["spirv-val", "--target-env", "vulkan1.2", str(module)], check=True)
            module.unlink()


def run_python(source: str, **variables: str) -> str:
    """The output of a separate program, including errors and messages of layers."""
    run = subprocess.run(
        [sys.executable, "-c", source],
        env={**environment(), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent,
    )
    return run.stdout + run.stderr


def with_modules(call: Callable[[], Any]) -> tuple[Any, list[Path]]:
    """The result of a call, and the SPIR-V modules that it passes to the driver; skips the test if none are kept."""
    if not KEPT:
        pytest.skip("RELAX_VULKAN_LOADER names a loader that keeps no SPIR-V modules")
    validate()
    for module in Path(KEPT).iterdir():
        module.unlink()
    return call(), list(Path(KEPT).iterdir())


def has_validation() -> bool:
    """Whether Khronos' validation layer is installed."""
    folders = ("/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d")
    return any(Path(folder, "VkLayer_khronos_validation.json").exists() for folder in folders)
