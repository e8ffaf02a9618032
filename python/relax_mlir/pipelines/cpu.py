# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect for a CPU: the phases in their order."""

from __future__ import annotations

from ._generated import (
    InlineDataflow,
    InsertKills,
    Legalize,
    LowerCallTIR,
    LowerToHost,
    PlanMemory,
    ReuseInPlace,
)
from .passes import Canonicalize, Pass, Simplify, SymbolDCE
from .pipeline import Pipeline


def make_kernels() -> Pipeline:
    """Graph ops become kernels; equal kernels are made once."""
    return Pipeline([Simplify(), Legalize()])


def plan_memory() -> Pipeline:
    """Every tensor gets a place, and every place an end."""
    return Pipeline(
        [
            InlineDataflow(),  # allocation is a side effect
            LowerCallTIR(),
            ReuseInPlace(),
            PlanMemory(),
            InsertKills(),
        ]
    )


def lower_for_cpu(vector_bits: int) -> Pipeline:
    """All of it."""
    return Pipeline(
        [
            make_kernels(),
            SymbolDCE(),  # kernels that nothing calls any more
            plan_memory(),
            LowerToHost(),
            Pass("relax-cpu-bufferize"),
            Canonicalize(),
            Pass("relax-cpu-to-llvm"),
        ]
    )
