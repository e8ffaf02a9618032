# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for the PyTorch front end's tests: compile a model once, and compare it with eager mode at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from relax_mlir.frontends import torch as relax_torch


class Model(torch.nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def auto(*args: Any) -> tuple[Any, ...]:
    """Shapes in which all sizes of all tensors are dynamic, for a `Model`."""
    dim = torch.export.Dim.AUTO
    return (tuple(dict.fromkeys(range(x.ndim), dim) if isinstance(x, torch.Tensor) else None for x in args),)


def compiled(model: Any, args: Sequence[Any], shapes: Any = "auto", **options: Any) -> relax_torch.CompiledProgram:
    """The compiled program of a model or a function."""
    if not isinstance(model, torch.nn.Module):
        model = Model(model)
    shapes = auto(*args) if shapes == "auto" else shapes
    return relax_torch.export(model.eval(), tuple(args), dynamic_shapes=shapes, **options).compile(cached=False)


def compiled_for_all_sizes(model: Any, args: Sequence[Any]) -> relax_torch.CompiledProgram:
    """The compiled program of a function that needs no special case for sizes of 0 and 1; it is exported once."""
    exported = torch.export.export(Model(model).eval(), tuple(args), dynamic_shapes=auto(*args))
    return relax_torch.from_exported_program(exported, smallest=0).compile(cached=False)


def compare(
    model: Any,
    args: Sequence[Any],
    *others: Sequence[Any],
    shapes: Any = "auto",
    tolerance: float = 1e-5,
    **options: Any,
) -> relax_torch.CompiledProgram:
    """Compiles with the first arguments, and compares with eager mode for all of them."""
    run = compiled(model, args, shapes, **options)
    for given in (args, *others):
        check(run, model, given, tolerance)
    return run


def check(run: Any, model: Any, args: Sequence[Any], tolerance: float = 1e-5) -> None:
    """Compares one call with eager mode."""
    with torch.no_grad():
        expected = model(*args)
    torch.testing.assert_close(run(*args), expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape).to(dtype)
