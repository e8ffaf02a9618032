# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From graph functions to the LLVM dialect for a CPU: the phases in their order."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _relax
from ._generated import (
    CheckIndices,
    FuseOps,
    FuseTIR,
    InlineDataflow,
    InsertKills,
    Legalize,
    LiftWorkspace,
    LowerCallTIR,
    LowerToHost,
    PlanMemory,
    ReuseInPlace,
    UpdateInPlace,
)
from .passes import KernelsToLoops, LoopsToLLVM, Simplify, SymbolDCE
from .pipeline import Pipeline, Step


def make_kernels(many_threads: bool = False, dispatch: Sequence[Step] = ()) -> Pipeline:
    """Graph ops become kernels; equal kernels are made once. With work for `many_threads` where there are such.

    Before that, `dispatch` gives to libraries what they take. Indices are checked on the host: with many threads,
    which are those of a device, kernels clamp or drop what is invalid.
    """
    checks = [] if many_threads else [CheckIndices()]
    return Pipeline([Simplify(), *dispatch, *checks, Legalize(many_threads=many_threads)])


def fuse_kernels() -> Pipeline:
    """Kernels that follow each other become one, as far as their loops allow."""
    return Pipeline(
        [
            FuseOps(),
            FuseTIR(),
            SymbolDCE(),  # kernels that nothing calls any more
        ]
    )


def make_destinations() -> Pipeline:
    """Each call is given the memory that it writes; it may be that of an input."""
    return Pipeline(
        [
            InlineDataflow(),  # allocation is a side effect
            UpdateInPlace(),  # reads the loops of kernels: they must be on tensors
            SymbolDCE(),  # kernels that copied, and copies that did not help
            LowerCallTIR(),
            ReuseInPlace(),  # reads them too
        ]
    )


def make_loops(vector_bits: int) -> Pipeline:
    """Kernels become loops over vectors in buffers; their scratch memory comes from those who call them."""
    return Pipeline([KernelsToLoops(vector_bits), LiftWorkspace()])


def plan_memory(use_bounds: bool = False) -> Pipeline:
    """Every tensor and every workspace gets a place, and every place an end.

    With `use_bounds`, places are as large as the declared bounds of symbols allow, so that a call takes its memory
    at once whatever its sizes are; else they are as large as a call needs.
    """
    return Pipeline([PlanMemory(use_bounds=use_bounds), InsertKills()])


def make_code(vector_bits: int) -> Pipeline:
    """Graph functions become host code, and all of it the LLVM dialect."""
    return Pipeline(
        [
            LowerToHost(),
            KernelsToLoops(vector_bits),  # those that are on tensors still
            LoopsToLLVM(),
        ]
    )


def default_pipeline(use_bounds: bool = False, vector_bits: int | None = None) -> Pipeline:
    """From graph ops to calls of kernels in planned memory; `vector_bits` is this machine's unless given."""
    vector_bits = vector_bits or _relax.vector_bits(*_relax.host_target())
    return Pipeline(
        [
            make_kernels(),
            fuse_kernels(),
            make_destinations(),
            make_loops(vector_bits),
            plan_memory(use_bounds),
        ]
    )


def lower_for_cpu(vector_bits: int) -> Pipeline:
    """All of it."""
    return Pipeline([default_pipeline(vector_bits=vector_bits), make_code(vector_bits)])
