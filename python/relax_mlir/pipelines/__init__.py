# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes and pipelines."""

from . import _generated
from ._generated import *  # noqa: F403 - the list of names is generated, too
from .passes import (
    BasePass,
    Canonicalize,
    KernelsToLaunches,
    KernelsToLoops,
    LaunchesToLLVM,
    LaunchesToSPIRV,
    LaunchesToVulkan,
    LoopsToLLVM,
    Pass,
    Simplify,
    SymbolDCE,
)
from .pipeline import Pipeline, PythonPass, Report, Timing

__all__ = [
    "BasePass",
    "Canonicalize",
    "KernelsToLaunches",
    "KernelsToLoops",
    "LaunchesToLLVM",
    "LaunchesToSPIRV",
    "LaunchesToVulkan",
    "LoopsToLLVM",
    "Pass",
    "Pipeline",
    "PythonPass",
    "Report",
    "Simplify",
    "SymbolDCE",
    "Timing",
]
__all__ += _generated.__all__
