# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of the results of PyTorch's ops that it cannot trace itself, so that programs with them can be exported."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

import torch

_F = TypeVar("_F", bound=Callable[..., object])


def register_missing_fake(name: str) -> Callable[[_F], _F]:
    """Registers what gives empty results of the right shapes for an op ("aten::geqrf"), unless PyTorch has it."""

    def add(function: _F) -> _F:
        with contextlib.suppress(RuntimeError):  # there is one
            torch.library.register_fake(name, function)
        return function

    return add
