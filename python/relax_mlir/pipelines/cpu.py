# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect for a CPU: the phases in their order."""

from __future__ import annotations

from ._generated import (
    FuseOps,
    FuseTIR,
    InlineDataflow,
    InsertKills,
    Legalize,
    LowerCallTIR,
    LowerToHost,
    PlanMemory,
    ReuseInPlace,
)
from .passes import KernelsToLoops, LoopsToLLVM, Simplify, SymbolDCE
from .pipeline import Pipeline


def make_kernels() -> Pipeline:
    """Graph ops become kernels; equal kernels are made once."""
    return Pipeline([Simplify(), Legalize()])


def fuse_kernels() -> Pipeline:
    """Kernels that follow each other become one, as far as their loops allow."""
    return Pipeline(
        [
            FuseOps(),
            FuseTIR(),
            SymbolDCE(),  # kernels that nothing calls any more
        ]
    )


def plan_memory(use_bounds: bool = False) -> Pipeline:
    """Every tensor gets a place, and every place an end.

    With `use_bounds`, places are as large as the declared bounds of symbols allow, so that a call takes its memory
    at once whatever its sizes are; else they are as large as a call needs.
    """
    return Pipeline(
        [
            InlineDataflow(),  # allocation is a side effect
            LowerCallTIR(),
            ReuseInPlace(),
            PlanMemory(use_bounds=use_bounds),
            InsertKills(),
        ]
    )


def make_code(vector_bits: int) -> Pipeline:
    """Graph functions become host code, kernels loops over vectors, and all of it the LLVM dialect."""
    return Pipeline(
        [
            LowerToHost(),
            KernelsToLoops(vector_bits),
            LoopsToLLVM(),
        ]
    )


def default_pipeline(use_bounds: bool = False) -> Pipeline:
    """From graph ops to calls of kernels in planned memory."""
    return Pipeline([make_kernels(), fuse_kernels(), plan_memory(use_bounds)])


def lower_for_cpu(vector_bits: int) -> Pipeline:
    """All of it."""
    return Pipeline([default_pipeline(), make_code(vector_bits)])
