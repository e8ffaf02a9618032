# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes and pipelines."""

from ._generated import *  # noqa: F403 - the list of names is generated, too
from ._generated import __all__ as _generated
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

__all__ = [  # noqa: PLE0604
    *_generated,
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
