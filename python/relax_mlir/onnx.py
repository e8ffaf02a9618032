# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of onnxruntime that programs use, so that one import takes its place.

>>> import relax_mlir.onnx as onnxruntime
>>> session = onnxruntime.InferenceSession("model.onnx")
>>> (y,) = session.run(None, {"x": x})

Options of sessions are accepted and have no effect: a program is compiled for this machine as it is.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from .frontends.onnx.session import InferenceSession, ModelMetadata, NodeArg

__all__ = [
    "ExecutionMode",
    "GraphOptimizationLevel",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "RunOptions",
    "SessionOptions",
    "disable_telemetry_events",
    "get_available_providers",
    "get_device",
    "set_default_logger_severity",
]


class GraphOptimizationLevel(enum.IntEnum):
    """How much onnxruntime changes a graph."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """How onnxruntime orders nodes."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


@dataclasses.dataclass
class SessionOptions:
    """What onnxruntime lets a session be made with."""

    intra_op_num_threads: int = 0
    inter_op_num_threads: int = 0
    log_severity_level: int = 2
    graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True

    def add_session_config_entry(self, key: str, value: str) -> None:
        """A setting of onnxruntime by its name."""


@dataclasses.dataclass
class RunOptions:
    """What onnxruntime lets a call be made with."""

    log_severity_level: int = 2


def get_available_providers() -> list[str]:
    """Where sessions run, as onnxruntime names it."""
    return ["CPUExecutionProvider"]


def get_device() -> str:
    """The kind of device that sessions run on."""
    return "CPU"


def set_default_logger_severity(severity: Any) -> None:
    """How much onnxruntime logs; here nothing is logged."""


def disable_telemetry_events() -> None:
    """Whether onnxruntime reports its use; here nothing is reported."""
