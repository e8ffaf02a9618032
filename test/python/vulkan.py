# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share that run on a device of Vulkan: a GPU, or Mesa's lavapipe on the CPU (mesa-vulkan-drivers).

Importing this makes test/vulkan the loader of this process: it hands all on to that of the machine, but what tests
want to fail (vulkan_faults.py).
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
"""The folder of the SPIR-V modules that this process has given to the driver; empty where they are not kept."""
if LOADER.exists() and os.environ.setdefault("RELAX_VULKAN_LOADER", str(LOADER)) == str(LOADER):
    KEPT = tempfile.mkdtemp(prefix="relax-spirv-")
    atexit.register(shutil.rmtree, KEPT, ignore_errors=True)
    os.environ["RELAX_VULKAN_KEEP"] = KEPT


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


def open_device() -> relax_mlir.Device:
    """Of the fixture `device` of a module: `device = pytest.fixture(open_device, scope="module")`."""
    require()
    return relax_mlir.Device("vulkan")


def is_lavapipe() -> bool:
    """Whether the device is the CPU."""
    return not reason() and relax_mlir.Device("vulkan").name.startswith("llvmpipe")


def skipping(call: Callable[..., Any]) -> Callable[..., Any]:
    """Skips the test where SwiftShader lacks what a kernel needs: it has f32 and i32 alone."""

    def called(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except relax_mlir.DeviceError as error:
            if " lacks " in str(error) and relax_mlir.Device("vulkan").name.startswith("SwiftShader"):
                pytest.skip(str(error))
            raise

    return called


def swiftshader() -> str:
    """The description of SwiftShader as a driver, which comes with Chromium; skips the test where it is not there."""
    folders = ("/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome", "/opt/chromium")
    found = [os.environ.get("RELAX_SWIFTSHADER", ""), *(f"{folder}/vk_swiftshader_icd.json" for folder in folders)]
    for path in found:
        if path and Path(path).exists():
            return path
    pytest.skip("there is no vk_swiftshader_icd.json of Chromium; RELAX_SWIFTSHADER may name one")


def environment() -> dict[str, str]:
    """Variables for a process of its own, without layers that this one may have, and what is said of lavapipe."""
    own = ("VK_INSTANCE_LAYERS", "RELAX_VULKAN_KEEP")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return {**kept, "PYTHONWARNINGS": "ignore::RuntimeWarning"}


def validate() -> None:
    """Hands to spirv-val what this process has given to the driver since the last time, if it is there."""
    if KEPT and shutil.which("spirv-val"):
        for module in Path(KEPT).iterdir():
            subprocess.run(["spirv-val", "--target-env", "vulkan1.2", str(module)], check=True)
            module.unlink()


def run_python(source: str, **variables: str) -> str:
    """What a program of its own prints, errors and what layers say included."""
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
    """What a call gives, and the SPIR-V modules that it gives to the driver; skips the test where none are kept."""
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
