# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for the linear algebra tests: programs for all sizes, including 0 and 1, and matrices as inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch_programs as programs

from relax_mlir.frontends import torch as relax_torch

SQUARE = ((2, 5), (3, 1), (1, 13), (0, 3), (2, 0), (1, 2))
"""Batches and sizes of square matrices; the program is exported with the first ones."""

RECTANGULAR = ((2, 5, 7), (2, 7, 5), (1, 13, 13), (3, 1, 2), (2, 3, 1), (0, 3, 2), (2, 0, 3), (2, 3, 0), (1, 1, 1))


def compiled(function: Callable[..., Any], *args: torch.Tensor) -> relax_torch.CompiledProgram:
    """The compiled program of a function, for all sizes that PyTorch's export covers."""
    model = programs.Model(function).eval()
    exported = torch.export.export(model, args, dynamic_shapes=programs.auto(*args))
    return relax_torch.from_exported_program(exported, smallest=0).compile(cached=False)


def compare(
    function: Callable[..., Any],
    inputs: Sequence[tuple[torch.Tensor, ...]],
    invariants: Callable[..., Any] = lambda result, *inputs: result,
    tolerance: float = 1e-4,
) -> relax_torch.CompiledProgram:
    """Compiles with the first inputs, and compares results, or sign-independent quantities, with eager mode for all."""
    run = compiled(function, *inputs[0])
    for given in inputs:
        found, expected = (invariants(call(*given), *given) for call in (run, function))
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return run


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Matrices whose pivots differ clearly, so that all implementations choose the same pivots."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def symmetric(count: int, size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Symmetric matrices that are not positive definite."""
    x = randn(count, size, size, dtype=dtype)
    return x + x.mT


def positive(count: int, size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Positive-definite matrices."""
    x = randn(count, size, size, dtype=dtype)
    return x @ x.mT + 3 * torch.eye(size, dtype=dtype)
