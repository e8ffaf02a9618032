# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of ONNX's ops, one function each in `converters`, and those of users."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..registry import Registry

registry = Registry(
    "ONNX",
    "register a converter with @relax_mlir.frontends.onnx.register('domain::Op'), or export the model without the op",
)


def register(*names: str, replace: bool = False) -> Callable[[Any], Any]:
    """Registers a function of tensors as the converter of ops: `@register("com.example::Op")`.

    It is called with the `Lowering` and the inputs of the node as values of the builder (None for one that is left
    out), and gives the value of the node, or a tuple of them. Names without a domain are ops of ONNX's own.
    """

    def add(function: Any) -> Any:
        @functools.wraps(function)
        def of_values(ctx: Any, *operands: Any) -> Any:
            return function(ctx, *map(ctx.value, operands))

        registry.register(*map(_full, names), replace=replace)(of_values)
        return function

    return add


def register_data(*names: str, replace: bool = False) -> Callable[[Any], Any]:
    """As `register`, for a function that takes the inputs as `Data`, with what is known of their elements."""
    return registry.register(*map(_full, names), replace=replace)


def _full(name: str) -> str:
    return name if "::" in name else f"onnx::{name}"
