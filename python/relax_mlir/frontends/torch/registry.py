# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of PyTorch's ops, one function each in `converters`, and those of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..registry import Converter, Registry

_F = TypeVar("_F", bound=Converter)

registry = Registry(
    "PyTorch",
    "register a converter with @relax_mlir.frontends.torch.register('namespace::op'), "
    "or take the op apart in the model",
)

register = registry.register
"""Registers a function as the converter of ops: `@register("mylib::op")`; see `Registry.register`."""

_RANDOM: dict[str, int | None] = {}
"""Ops that draw random numbers, with the position of the argument that says whether they do."""


def register_random(*names: str, when: int | None = None) -> Callable[[_F], _F]:
    """Registers the converter of ops that draw random numbers (`Lowering.random`).

    Args:
      when: the position of an argument that says whether they do, such as `train` of dropout.
    """
    _RANDOM.update(dict.fromkeys(names, when))
    return register(*names)


def draws_random(node: Any, name: str) -> bool:
    """Whether a node, an op of that name, draws random numbers."""
    key = name if name in _RANDOM else name.partition(".")[0]
    if key not in _RANDOM:
        return False
    position = _RANDOM[key]
    return position is None or (len(node.args) > position and bool(node.args[position]))
