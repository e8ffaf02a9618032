# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of onnxruntime that programs use, so that one import takes its place.

>>> import relax_mlir.onnx as onnxruntime
>>> session = onnxruntime.InferenceSession("model.onnx")
>>> (y,) = session.run(None, {"x": x})

A package that imports onnxruntime by its name gets this module if it is put in its place first:

>>> sys.modules["onnxruntime"] = relax_mlir.onnx
"""

from __future__ import annotations

from typing import Any

from .frontends.onnx.binding import IOBinding, OrtValue
from .frontends.onnx.session import InferenceSession, ModelMetadata, NodeArg
from .frontends.onnx.session_options import (
    CPU,
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)

__version__ = "1.32.0"
"""The version of onnxruntime whose names these are."""

__all__ = [
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "OrtValue",
    "RunOptions",
    "SessionIOBinding",
    "SessionOptions",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
]

SessionIOBinding = IOBinding


def get_available_providers() -> list[str]:
    """Where sessions run, as onnxruntime names it."""
    return [CPU]


def get_all_providers() -> list[str]:
    """The same: no others are known."""
    return [CPU]


def get_device() -> str:
    """The kind of device that sessions run on."""
    return "CPU"


def set_default_logger_severity(severity: Any) -> None:
    """How much onnxruntime logs; here nothing is logged."""


def set_default_logger_verbosity(verbosity: Any) -> None:
    """Likewise."""


def enable_telemetry_events() -> None:
    """Whether onnxruntime reports its use; here nothing is reported."""


def disable_telemetry_events() -> None:
    """Likewise."""
