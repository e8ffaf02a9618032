# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of linear algebra share: programs for all sizes, 0 and 1 among them, and matrices to try them with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch_programs as programs

from relax_mlir.frontends import torch as relax_torch

SQUARE = ((2, 5), (3, 1), (1, 13), (0, 3), (2, 0), (1, 2))
"""Batches and sizes of square matrices; the first are those of the export."""

RECTANGULAR = ((2, 5, 7), (2, 7, 5), (1, 13, 13), (3, 1, 2), (2, 3, 1), (0, 3, 2), (2, 0, 3), (2, 3, 0), (1, 1, 1))


def compiled(function: Callable[..., Any], *args: torch.Tensor) -> relax_torch.CompiledProgram:
    """The compiled program of a function, for any sizes for which PyTorch exports it."""
    model = programs.Model(function).eval()
    exported = torch.export.export(model, args, dynamic_shapes=programs.auto(*args))
    return relax_torch.from_exported_program(exported, smallest=0).compile(cached=False)


def compare(
    function: Callable[..., Any],
    inputs: Sequence[tuple[torch.Tensor, ...]],
    invariants: Callable[..., Any] = lambda result, *inputs: result,
    tolerance: float = 1e-4,
) -> relax_torch.CompiledProgram:
    """Compiles with the first inputs, and compares with eager for all: results, or what does not depend on signs."""
    run = compiled(function, *inputs[0])
    for given in inputs:
        found, expected = (invariants(call(*given), *given) for call in (run, function))
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return run


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Matrices whose pivots are far from each other, so that all that chooses among them chooses the same."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def symmetric(count: int, size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Symmetric matrices that are not positive."""
    x = randn(count, size, size, dtype=dtype)
    return x + x.mT


def positive(count: int, size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Positive-definite matrices."""
    x = randn(count, size, size, dtype=dtype)
    return x @ x.mT + 3 * torch.eye(size, dtype=dtype)
