# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of PyTorch's ops, one function each in `converters`, and those of users."""

from __future__ import annotations

from ..registry import Registry

registry = Registry(
    "PyTorch",
    "register a converter with @relax_mlir.frontends.torch.register('namespace::op'), "
    "or take the op apart in the model",
)

register = registry.register
"""Registers a function as the converter of ops: `@register("mylib::op")`; see `Registry.register`."""
